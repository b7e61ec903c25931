"""Simplified Chinese for what is told of the large models: their files, what they need, how far loading has come."""

from __future__ import annotations

SENTENCES = {
    # loading
    "{what:said}: {done} of {all}": "{what}：{done}，共 {all}",
    "{what:said}: {done} of {all}, {time} left": "{what}：{done}，共 {all}，还剩 {time}",
    "Reading the transformer": "正在读取变换器",
    "Reading the text encoder": "正在读取文字编码器",
    "Reading the VAE": "正在读取 VAE",
    "Give it with --model PATH; 'python main.py models' lists the models and fetches them.": "请用 --model 路径 给出；"
    "“python main.py models”会列出并获取模型。",
    "the folder of a LingBot-World model": "LingBot-World 模型的文件夹",
    "'{name}' without a picture": "没有图片的“{name}”",
    "the scene": "场景",
    "Give --image.": "请给出 --image。",
    "a multiple of 16, such as {number}": "16 的倍数，例如 {number}",
    "{least} or more: all that is remembered": "{least} 或更多：即全部记忆",
    "decoder state": "解码器状态",
    "decoder state, {name}": "解码器状态，{name}",
    "{count} slots (such as {name})": "{count} 个槽（例如 {name}）",
    "{count} slots": "{count} 个槽",
    "{dtype} [B, {channels}, 1 or 2, height, width]": "{dtype} [B, {channels}, 1 或 2, 高, 宽]",
    # what it needs
    "The VAE of the large models needs": "大模型的 VAE 需要",
    "The text encoder of the large models needs": "大模型的文字编码器需要",
    "{model} needs {size} of main memory on the processor, and {free} are free.": "{model} 在处理器上需要 {size} 内存，"
    "而空闲的有 {free}。",
    "It is made for a graphics card; 'python main.py models' says how large a one.": "它是为显卡而做的；"
    "“python main.py models”会说明需要多大的显卡。",
    "{model} ({how:if}): {need} of GPU memory needed, {free} free.": "{model}（{how}）：需要 {need} 显存，"
    "空闲 {free}。",
    "{dtype}, {size}, text encoder: {place}": "{dtype}，{size}，文字编码器：{place}",
    "{dtype} with fp8 matrices, {size}, text encoder: {place}": "{dtype} 加 fp8 矩阵，{size}，文字编码器：{place}",
    "{size} of GPU memory are missing: close other programs that use the card, or {cures:said}.": "缺少 {size} 显存："
    "请关闭使用显卡的其他程序，或{cures}。",
    "{one:said}, or {others:said}": "{one}，或{others}",
    "choose a smaller picture (engine.lingbot.width_px and height_px)": "选择更小的画面（engine.lingbot.width_px "
    "和 height_px）",
    "set engine.device.dtype to bfloat16": "把 engine.device.dtype 设为 bfloat16",
    "allow fp8 matrices (engine.lingbot.fp8_linears)": "允许 fp8 矩阵（engine.lingbot.fp8_linears）",
    "lower engine.lingbot.window_latent_frames": "调小 engine.lingbot.window_latent_frames",
    "take the 1.3B model": "改用 1.3B 模型",
    "The text encoder needs {size} of main memory and {free} are free: close other programs.": "文字编码器需要 {size} "
    "内存，而空闲的有 {free}：请关闭其他程序。",
    "Compiling for {device} needs a compiler that is not on this machine.": "为 {device} 编译需要编译器，"
    "而这台电脑上没有。",
    "Install one (triton for a GPU, gcc for the processor), or set engine.lingbot.compile_blocks to false.": "请安装"
    "一个（GPU 用 triton，处理器用 gcc），或把 engine.lingbot.compile_blocks 设为 false。",
    "The processor has no fp8 products.": "处理器没有 fp8 乘法。",
    "This card (compute capability {capability}) has no fp8 products; 8.9 or newer has.": "这块显卡（计算能力 "
    "{capability}）没有 fp8 乘法；8.9 或更新的才有。",
    "Set engine.lingbot.fp8_linears to false.": "请把 engine.lingbot.fp8_linears 设为 false。",
    "fp8 products give bfloat16 numbers.": "fp8 乘法的结果是 bfloat16。",
    "Set engine.device.dtype to bfloat16.": "请把 engine.device.dtype 设为 bfloat16。",
    "No attention kernel of torch runs on {device} with {dtype}.": "torch 没有能在 {device} 上以 {dtype} "
    "运行的注意力核。",
    "Take another dtype.": "请改用另一种类型。",
    # its folder
    "cannot be looked through ({reason:if})": "无法查看（{reason}）",
    "unknown reason": "原因不明",
    "Give a folder that you may read.": "请给出可以读取的文件夹。",
    "is neither a folder nor a safetensors file": "既不是文件夹，也不是 safetensors 文件",
    "is an empty folder of the hub's cache": "是 hub 缓存中的空文件夹",
    "has a model_index.json and no transformer folder": "有 model_index.json，但没有 transformer 文件夹",
    "seems to be LingBot-World base: two experts that do not run causally, so it cannot be walked in": "似乎是 "
    "LingBot-World base：它的两个专家不能因果运行，所以不能在其中行走",
    "Use LingBot-World v2 or v1-fast ('python main.py models' lists them).": "请使用 LingBot-World v2 或 v1-fast"
    "（“python main.py models”会列出它们）。",
    "Name the folder of a LingBot-World model.": "请指定 LingBot-World 模型的文件夹。",
    "Name the folder of a LingBot-World model; 'python main.py models' lists what can be had.": "请指定 LingBot-World "
    "模型的文件夹；“python main.py models”会列出可用的模型。",
    "does not hold {parts:if}": "不含{parts}",
    "does not hold {parts:if}, and neither does {folder}": "不含{parts}，{folder} 也没有",
    "{one:said} and {others:said}": "{one}和{others}",
    "the text encoder (text_encoder/ or {file})": "文字编码器（text_encoder/ 或 {file}）",
    "the tokenizer (tokenizer/ or google/umt5-xxl/)": "分词器（tokenizer/ 或 google/umt5-xxl/）",
    "the VAE (vae/ or {file})": "VAE（vae/ 或 {file}）",
    "Name a folder that has them, for example that of the 14B model, in the setting engine.lingbot.assets.": "请在设置 "
    "engine.lingbot.assets 中指定含有它们的文件夹，例如 14B 模型的文件夹。",
    "holds no safetensors file of a transformer (it holds {names:if})": "没有变换器的 safetensors 文件"
    "（其中有{names}）",
    "holds {count} safetensors files and no index": "有 {count} 个 safetensors 文件，但没有索引",
    "Name the file to load.": "请指定要加载的文件。",
    "lacks {count} of {all} shards ({names})": "缺少 {all} 个分片中的 {count} 个（{names}）",
    "Continue the download; finished files are kept.": "请继续下载；已完成的文件会保留。",
    "has no 'weight_map' of tensors to files": "没有从张量到文件的“weight_map”",
    "Download it again.": "请重新下载。",
    "names files outside its own folder": "指向自己文件夹以外的文件",
    "Download it again from a source you trust.": "请从可信的来源重新下载。",
    "names {count} tensors that their shards do not hold (first: {name})": "列出了 {count} 个分片中没有的张量"
    "（第一个：{name}）",
    "Download the index and its shards again, from one and the same revision.": "请从同一个版本重新下载索引和分片。",
    "Download these files again.": "请重新下载这些文件。",
    "{file}.safetensors {problem:said}": "{file}.safetensors {problem}",
    # its configuration
    "is too large for a configuration or an index": "太大，不可能是配置或索引",
    "is not JSON": "不是 JSON",
    "has no config.json, and its tensors are not those of a LingBot-World transformer": "没有 config.json，"
    "其张量也不属于 LingBot-World 变换器",
    "names no family of models that this version knows": "其中的模型系列不为这个版本所知",
    "Delete this file.": "请删除这个文件。",
    "has sizes that do not fit together ({reason})": "的大小互相不符（{reason}）",
    "Restore config.json as it was published.": "请恢复发布时的 config.json。",
    "'{name}' is not a number": "“{name}”不是数",
    "'{name}' is not a whole number": "“{name}”不是整数",
    "'{name}' is {value} and must be 1 or more": "“{name}”是 {value}，必须是 1 或更大",
    "chunk {chunk}, window {window}, sink {sink}": "块 {chunk}，窗口 {window}，起始帧 {sink}",
    "a chunk of 1 or more and a window that holds sink and chunk (latent frames)": "块为 1 或更大，"
    "窗口能容纳起始帧和块（潜帧）",
    "latents_mean and latents_std are not 16 numbers each, the latter positive": "latents_mean 和 latents_std "
    "不是各 16 个数，且后者为正",
    "Take it from the repository of the model again.": "请从模型的仓库重新获取。",
    # its weights
    "holds '{name}' a second time": "第二次含有“{name}”",
    "Keep the files of one model only.": "请只保留一个模型的文件。",
    "Check the path.": "请检查路径。",
    "Name a readable file.": "请指定可以读取的文件。",
    "holds no tensors by name": "不含有名称的张量",
    "holds something else than tensors ({name})": "含有张量以外的内容（{name}）",
    "is not a file that torch wrote (no zip)": "不是 torch 写的文件（不是 zip）",
    "is not a zip as torch writes it": "不是 torch 写的 zip",
    "is not a plain file of tensors ({reason})": "不是单纯的张量文件（{reason}）",
    "is too big: {size} bytes, and at most {most} are expected": "太大：{size} 字节，最多应为 {most}",
    "is truncated or damaged: {size} bytes ({reason})": "被截断或已损坏：{size} 字节（{reason}）",
    "is truncated or damaged ({reason})": "被截断或已损坏（{reason}）",
    "is a git-LFS pointer and not the file itself": "是 git-LFS 指针，不是文件本身",
    "Run 'git lfs pull' to fetch it.": "请运行“git lfs pull”获取它。",
    "is a pickle checkpoint in a zip (.pt, .pth or .bin), which could run any program when loaded": "是 zip 中的 "
    "pickle 文件（.pt、.pth 或 .bin），加载时可能运行任意程序",
    "is a pickle checkpoint (.pt, .pth or .bin), which could run any program when loaded": "是 pickle 文件"
    "（.pt、.pth 或 .bin），加载时可能运行任意程序",
    "Use the safetensors form of this model.": "请使用这个模型的 safetensors 文件。",
    "is a GGUF file": "是 GGUF 文件",
    "is a web page and not a weights file": "是网页，不是权重文件",
    "Download it again; the server probably asked for a login.": "请重新下载；服务器可能要求登录。",
    # its tokenizer
    "Take tokenizer.json from the repository of the model, folder tokenizer or google/umt5-xxl.": "请从模型的仓库获取 "
    "tokenizer.json，在文件夹 tokenizer 或 google/umt5-xxl 中。",
    "does not close a prompt with {end}, as the text encoder was trained": "不以 {end} 结束提示词，"
    "而文字编码器是这样训练的",
    "is not the tokenizer of a T5 text encoder": "不是 T5 文字编码器的分词器",
    "is too big for a tokenizer ({size} bytes)": "太大，不可能是分词器（{size} 字节）",
    # the page of models
    "{what:said}; {state:said}": "{what}；{state}",
    "paints and refines a procedural landscape; runs on any computer": "描绘并细化程序生成的风景；可在任何电脑上运行",
    "moving colours with the same controls; no model, no torch": "移动的色块，操作相同；没有模型，也不需要 torch",
    "a model that runs on another computer: docs/cluster.md": "在另一台电脑上运行的模型：见 docs/cluster.md",
    "{title}: dreams everything": "{title}：一切都由它想象出来",
    "test card": "测试卡",
    "built in": "内置",
    "on a server": "在服务器上",
    "comes along ({size})": "随程序附带（{size}）",
    "missing: {path}": "缺少：{path}",
    "not here ({size} to fetch)": "不在这里（需下载 {size}）",
    "on disk: {path}": "在磁盘上：{path}",
    "{size} of main memory, window and world together": "{size} 内存，窗口和世界一起",
    "{size} of GPU memory at {picture}, {fp8} with fp8 matrices, and {host} of main memory for the text encoder": "在 "
    "{picture} 下需要 {size} 显存，用 fp8 矩阵为 {fp8}；文字编码器另需 {host} 内存",
    "{name:if}: no commercial use; say whose work it is; what you make of it is shared alike ({address})": "{name}："
    "不得用于商业；须署名；由它做出的作品须以相同方式共享 ({address})",
    "{name:if}: its code is Apache-2.0; what holds for the weights is written on the card of their repository: read it "
    "first": "{name}：代码是 Apache-2.0；权重的条款写在其仓库的说明卡上：请先阅读",
    "see its card": "见其说明卡",
    "(no config.json)": "（没有 config.json）",
    "(no name)": "（没有名称）",
}
