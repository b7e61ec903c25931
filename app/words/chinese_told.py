"""Simplified Chinese for what the engine and the program tell while all is well, or the world has to stop."""

from __future__ import annotations

SENTENCES = {
    # how errors are put together
    "{path}: {problem:said}.": "{path}：{problem}。",
    "{where:if}: got {got:if}, expected {expected:said}.": "{where}：得到的是{got}，应为{expected}。",
    # the bundled model
    "This small model finds no landscape in “{prompt}”: the world stays as it is.": "这个小模型在“{prompt}”中"
    "没有找到风景：世界保持原样。",
    "All that it knows is {biomes:said}; {times:said}; {weathers:said} weather.": "它只知道{biomes}；{times}；"
    "{weathers}。",
    "meadow, forest, desert, snow, canyon, islands and autumn": "草地、森林、沙漠、雪地、峡谷、岛屿和秋林",
    "dawn, noon, dusk and night": "黎明、正午、黄昏和夜晚",
    "clear, cloudy, fog and storm": "晴天、多云、雾和暴风雨",
    "This small model cannot walk into your picture: it begins in the nearest world that it knows, {world:said}, in "
    "the picture's colours and light.": "这个小模型不能走进你的图片：它从它知道的最近的世界开始，即{world}，"
    "采用图片的颜色和光线。",
    "This small model cannot walk into your picture: it begins in the nearest world that it knows, {world:said} (by "
    "your words {words:said}), in the picture's colours and light.": "这个小模型不能走进你的图片：它从它知道的最近的"
    "世界开始，即{world}（按你的文字是{words}），采用图片的颜色和光线。",
    "The large models walk into the picture itself.": "大模型会走进图片本身。",
    "a green meadow {time:said} {weather:said}": "{time}{weather}的绿色草地",
    "a forest {time:said} {weather:said}": "{time}{weather}的森林",
    "a desert {time:said} {weather:said}": "{time}{weather}的沙漠",
    "a snowy land {time:said} {weather:said}": "{time}{weather}的雪地",
    "a red canyon {time:said} {weather:said}": "{time}{weather}的红色峡谷",
    "islands {time:said} {weather:said}": "{time}{weather}的群岛",
    "autumn woods {time:said} {weather:said}": "{time}{weather}的秋林",
    "at dawn": "黎明",
    "at noon": "正午",
    "at dusk": "黄昏",
    "at night": "夜晚",
    "under a clear sky": "晴空下",
    "under clouds": "多云",
    "in fog": "雾中",
    "in a storm": "暴风雨中",
    "The test card has no picture in it: it shows its own ground.": "测试卡里没有图片：它显示自己的地面。",
    "This picture of {size} pixels was enlarged to {larger}, so the world begins blurred.": "这张 {size} 像素的图片被"
    "放大到 {larger}，所以世界开始时是模糊的。",
    "Give --image FILE for a sharp one.": "用 --image 文件 可以给出清晰的图片。",
    # what of the memory is seen
    "moving": "移动",
    "still": "静止",
    "full": "全部",
    "base": "自带",
    "server": "服务器",
    # going back, saving
    "A world that is made on a server cannot go back in time: what it remembers is there.": "在服务器上生成的世界"
    "不能返回过去：它的记忆在服务器上。",
    "No earlier moment of this world is kept.": "这个世界没有保留更早的时刻。",
    "This world's memory is {size} MB, and engine.moments_limit_mb allows {limit} for going back in time.": "这个世界的"
    "记忆是 {size} MB，而 engine.moments_limit_mb 只允许用 {limit} MB 返回过去。",
    "the world's memory is {size} MB, and the limit {limit} MB (engine.lingbot.snapshot_limit_mb).": "世界的记忆是 "
    "{size} MB，而上限是 {limit} MB（engine.lingbot.snapshot_limit_mb）。",
    # the engine stops
    "The engine's process was ended.": "引擎进程被终止。",
    "The engine's process ended with status {status}.": "引擎进程已结束，状态码是 {status}。",
    "The engine's process ended with status {status}, most likely because memory ran out.": "引擎进程已结束，状态码是 "
    "{status}，很可能是因为内存耗尽。",
    "Press R to start the world again from its last snapshot.": "按 R 从最近的快照重新开始世界。",
    "Press R to try once more.": "按 R 再试一次。",
    "The engine's process cannot be started ({reason:if}).": "无法启动引擎进程（{reason}）。",
    "Close other programs, then try again.": "请关闭其他程序，然后再试。",
    "Close other programs.": "请关闭其他程序。",
    "The machine has not enough free memory for this world.": "这台电脑的空闲内存不够这个世界使用。",
    "The world stopped with an error of the program itself ({error}).": "程序自身出错，世界停止了（{error}）。",
    "A part of the program is missing ({error}).": "程序缺少一部分（{error}）。",
    "Install it again: python -m pip install -e .": "请重新安装：python -m pip install -e .",
    "The graphics card has not enough free memory for the next pictures ({error}).": "显卡的空闲内存不够生成接下来的"
    "画面（{error}）。",
    "Close other programs that use it, or choose a smaller picture, window or model.": "请关闭使用显卡的其他程序，"
    "或选择更小的画面、窗口或模型。",
    "The configuration of {model} lacks '{name}'.": "{model} 的配置缺少“{name}”。",
    "Add it to the model's config.json.": "请把它加入模型的 config.json。",
    "{why:said} the library {library}, which is not installed.": "{why}程序库 {library}，但它没有安装。",
    "Walking on a server needs": "在服务器上行走需要",
    'Install it with: python -m pip install -e ".[{extra}]"': '安装它：python -m pip install -e ".[{extra}]"',
    # films and settings of this computer
    "Finished what an interrupted run had recorded: {names}.": "已写完上次中断时录制的影片：{names}。",
    "{path}: the session file cannot be written: {reason:if}.": "{path}：无法写入会话文件：{reason}。",
    "The walk goes on without it.": "行走会继续，但不再记录。",
    "The recording could not be finished in time; it plays up to its last second.": "录制未能及时写完；"
    "影片可以播放到最后一秒。",
    "{path}: nothing was recorded, because no frame was shown.": "{path}：没有录下任何内容，因为没有显示过画面。",
    "No file was kept.": "没有保留文件。",
    "{path}: the recording stopped, because the encoder failed ({reason:if}).": "{path}：录制停止了，因为编码器出错"
    "（{reason}）。",
    "What was recorded until then is kept.": "此前录下的内容已保留。",
    "{path}: the recording is kept and plays, but is slow to open ({reason:if}).": "{path}：录制已保留，可以播放，"
    "但打开较慢（{reason}）。",
    "it ended with status {status}": "它以状态码 {status} 结束",
    "ffmpeg ended with status {status}": "ffmpeg 以状态码 {status} 结束",
    "the film ends within a box": "影片在数据块中间中断",
    "the walk that it should carry is damaged": "它应包含的行走记录已损坏",
    "the walk is too long to be kept in the film": "行走记录太长，不能放进影片",
    "Your settings could not be read, so the defaults hold: {error:said}": "无法读取你的设置，所以使用默认值：{error}",
    "Your settings are damaged and could not be set aside ({error:said}).": "你的设置已损坏，也无法移开（{error}）。",
    "What is good in them holds.": "其中完好的部分仍然有效。",
    "Your settings were damaged: {error:said}": "你的设置已损坏：{error}",
    "They are kept as {name}; {count:if} of them still hold.": "它们保存为 {name}；其中 {count} 项仍然有效。",
    "none": "0",
    # what a system says
    "no space left on device": "磁盘空间不足",
    "disk quota exceeded": "超出磁盘配额",
    "read-only file system": "文件系统只读",
    "permission denied": "没有权限",
    "operation not permitted": "不允许此操作",
    "no such file or directory": "没有这个文件或文件夹",
    "not a directory": "不是文件夹",
    "is a directory": "是文件夹",
    "file exists": "文件已存在",
    "file name too long": "文件名太长",
    "input/output error": "输入输出错误",
    "broken pipe": "管道已断开",
    "cannot allocate memory": "无法分配内存",
    "too many open files": "打开的文件太多",
    "text file busy": "文件正被使用",
}
