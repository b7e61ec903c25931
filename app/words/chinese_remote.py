"""Simplified Chinese for what is told of a server that makes the world, and of the line to it."""

from __future__ import annotations

SENTENCES = {
    # while it begins
    "Looking for the server at {address}": "正在寻找服务器 {address}",
    "Waiting for the server's first pictures": "正在等待服务器的第一批画面",
    # its address
    "an address such as ws://gpu-box:30000, or wss://... through TLS": "ws://gpu-box:30000 这样的地址，"
    "或通过 TLS 的 wss://... 地址",
    "an address with a name or password": "带有用户名或密码的地址",
    "Give it: --server ws://HOST:30000": "请给出：--server ws://主机:30000",
    "The server knows no log-in.": "服务器没有登录功能。",
    "cannot be used ({reason:if})": "无法使用（{reason}）",
    "it holds no certificate in PEM form": "其中没有 PEM 格式的证书",
    "Point {setting} at the PEM file of the authority.": "请让 {setting} 指向证书颁发机构的 PEM 文件。",
    # it is not there, or something else is
    "The certificate of {address} is not to be trusted ({reason}).": "{address} 的证书不可信（{reason}）。",
    "Set engine.remote.ca_file to the PEM file of the authority that signed it, or correct --server.": "请把 "
    "engine.remote.ca_file 设为签发它的机构的 PEM 文件，或更正 --server。",
    "No TLS connection to {address} came about ({reason:if}).": "无法与 {address} 建立 TLS 连接（{reason}）。",
    "handshake failed": "握手失败",
    "Use ws:// if the server does not speak TLS, or correct --server.": "如果服务器不使用 TLS，请用 ws://，"
    "或更正 --server。",
    "There is no computer of the name {host}.": "没有名为 {host} 的计算机。",
    "Correct --server.": "请更正 --server。",
    "No server answers at {address} in time.": "{address} 没有服务器及时回应。",
    "No server answers at {address} ({reason:if}).": "{address} 没有服务器回应（{reason}）。",
    "Start it there (see docs/cluster.md), or correct --server.": "请在那里启动服务器（见 docs/cluster.md），"
    "或更正 --server。",
    "What answers at {address} is no SGLang realtime server ({answer:if}).": "{address} 上回应的不是 SGLang 实时服务器"
    "（{answer}）。",
    "no WebSocket answer": "不是 WebSocket 回应",
    "Correct --server, or start the server with a realtime model (see docs/cluster.md).": "请更正 --server，"
    "或用实时模型启动服务器（见 docs/cluster.md）。",
    "connection refused": "连接被拒绝",
    "connection reset by peer": "连接被对方重置",
    "connection timed out": "连接超时",
    "network is unreachable": "网络不可达",
    "no route to host": "没有到主机的路由",
    # it says no, or stops
    "The server at {address} is busy: it serves one walk at a time.": "服务器 {address} 正忙：它一次只能供一人行走。",
    "Wait for the other walk to end and press R, or use another server.": "请等另一人的行走结束后按 R，"
    "或使用另一个服务器。",
    "The server at {address} refused to begin this world ({reason}).": "服务器 {address} 拒绝开始这个世界"
    "（{reason}）。",
    "Look into the server's log; engine.remote.width_px and height_px must fit its model.": "请查看服务器的日志；"
    "engine.remote.width_px 和 height_px 必须符合它的模型。",
    "The server at {address} stopped generating ({reason}).": "服务器 {address} 停止了生成（{reason}）。",
    "The server at {address} ended the walk ({reason:if}).": "服务器 {address} 结束了行走（{reason}）。",
    "no reason given": "没有给出原因",
    "The server at {address} broke off.": "服务器 {address} 断开了连接。",
    "The server at {address} broke off (code {code}).": "服务器 {address} 断开了连接（代码 {code}）。",
    "The server at {address} broke off in the middle of a chunk.": "服务器 {address} 在一块的中途断开了连接。",
    "The server at {address} broke off in the middle of a chunk (code {code}).": "服务器 {address} 在一块的中途断开了"
    "连接（代码 {code}）。",
    "The line to {address} is dead: no sign of life came any more.": "到 {address} 的连接已断：不再有任何回应。",
    "The server at {address} is there, but has sent no picture for {seconds} seconds.": "服务器 {address} 在运行，"
    "但已有 {seconds} 秒没有发来画面。",
    "For a slow server raise engine.remote.patience_seconds.": "如果服务器较慢，请调大 "
    "engine.remote.patience_seconds。",
    "The server at {address} refuses whatever it is told ({reason}).": "服务器 {address} 拒绝一切指令（{reason}）。",
    "The line to the server ended with an error of the program itself.": "到服务器的连接因程序自身的错误而中断。",
    "The walk was ended.": "行走已结束。",
    "Press R to go on from the last picture.": "按 R 从最后的画面继续。",
    # it does not keep to the protocol
    "The server at {address} sends pictures of {got}, {expected} were asked for.": "服务器 {address} 发来 {got} 的画面"
    "，而要求的是 {expected}。",
    "Set engine.remote.width_px={width} and height_px={height}, or start it for the size asked for.": "请设置 "
    "engine.remote.width_px={width} 和 height_px={height}，或按要求的大小启动服务器。",
    "The server at {address} does not keep to the protocol: {problem:if}.": "服务器 {address} 不遵守协议：{problem}。",
    "If it happens again, the server is of a version that is not known here.": "如果再次发生，说明服务器的版本"
    "不受支持。",
    "{where:if} was {got:if}, expected {expected:said}": "{where}是{got}，应为{expected}",
    "{where:if} was {got:if}, expected {expected}": "{where}是{got}，应为 {expected}",
    "a message": "一条消息",
    "a message's type": "消息的类型",
    "a payload": "数据部分",
    "a frame": "一帧",
    "the size of the pictures": "画面的大小",
    "the frames of a chunk": "一块的帧数",
    "longer than any can be": "比任何消息都长",
    "the frames that were asked for": "所要求的帧",
    "a word": "一个词",
    "text": "文本",
    "binary MessagePack": "二进制 MessagePack",
    "{count} bytes": "{count} 字节",
    "{count} bytes that cannot be decoded": "无法解码的 {count} 字节",
    "a picture in {encoding}": "{encoding} 格式的图片",
    "the {count} bytes that its header names": "消息头中所说的 {count} 字节",
    "the {count} bytes that total_size names": "total_size 所说的 {count} 字节",
    "{count} frames of {size}, {bytes}": "{count} 帧 {size} 的画面，共 {bytes}",
    "{count} lengths that add up to {total}": "{count} 个长度，总和为 {total}",
    # worlds on it
    "a multiple of {number}": "{number} 的倍数",
    "model of the server": "服务器的模型",
    "one without a picture": "没有图片的场景",
    "a picture to begin with": "开始用的图片",
    "Give one: --image FILE": "请给出一张：--image 文件",
    "another making": "重新生成",
    "none, as a server makes each chunk once": "不能有，因为服务器每块只生成一次",
    "a mix of two": "两个提示词的混合",
    "one text, as servers mix none": "一段文字，因为服务器不能混合",
    "the snapshot is not one of a server's world": "快照不属于服务器上的世界",
}
