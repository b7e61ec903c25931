"""Chinese prompts: a table of the words that speak of landscapes, times and weathers, and of the small words around
them. A sentence becomes English word by word (the longest entry first), so that grammar, word vectors and networks are
those of English. Characters that no entry has say nothing here.
"""

from __future__ import annotations

import re

_CHINESE = re.compile(r"[\u3400-\u9fff]")

# English = Chinese words of that meaning; a line without = goes on. With nothing before it: words that hold a known
# character and mean nothing here.
_TABLE = """
snow = 雪 下雪 大雪 积雪 白雪 雪花 飘雪 落雪
a snowy landscape = 雪地 雪原 雪景 雪野 雪国 冰天雪地 冰雪 白雪皑皑 银装素裹
snowy mountains = 雪山 冰山 雪峰 珠穆朗玛峰 珠峰 喜马拉雅 阿尔卑斯 阿尔卑斯山
winter = 冬 冬天 冬季 冬日 寒冬 严冬 隆冬 圣诞节 圣诞
ice = 冰 冰川 冰河 冰原 冰湖 结冰 冰封 冰雪世界 霜 寒冷 冰冷 严寒 冻土 苔原
arctic = 北极 南极 极地 南极洲 格陵兰 格陵兰岛 西伯利亚 阿拉斯加 拉普兰 北极圈 漠河
iceland = 冰岛
snowy forest = 雪林 林海雪原
a blizzard = 暴风雪 暴雪 雪暴
forest = 森林 树林 林 树木 树 林子 丛林 林地 密林 林海 山林 大树 林间 古树 灌木 灌木丛
pine forest = 松林 松树 松树林 针叶林 杉树 云杉 冷杉 杉林 白桦林 桦树 竹林 竹子 橡树 黑森林 大兴安岭
rainforest = 雨林 热带雨林 亚马逊 亚马孙 亚马逊雨林 亚马逊丛林 刚果
meadow = 草 草地 草原 草甸 草坪 大草原 草场 牧场 原野 田野 田园 绿地 绿野 青草 草坡 绿草 平原 牧羊 羊群 花海 花田 野花
  花草 鲜花 油菜花 麦田 稻田 农田 乡村 乡间 山坡 丘陵 公园 春天 春季 春日 夏天 夏季 内蒙古 呼伦贝尔 爱尔兰 苏格兰
  新西兰
desert = 沙漠 沙 沙丘 沙地 沙海 荒漠 大漠 戈壁 戈壁滩 黄沙 干旱 干燥 绿洲 骆驼 仙人掌 撒哈拉 撒哈拉沙漠 塔克拉玛干
  埃及 阿拉伯 沙特 迪拜 摩洛哥 纳米比亚 敦煌 荒原
a sandstorm = 沙尘暴 沙暴
canyon = 峡谷 大峡谷 科罗拉多 科罗拉多大峡谷 亚利桑那 犹他 红石 红岩 红色岩石 岩石 悬崖 峭壁 断崖 岩壁 山崖 丹霞 石林
  裂谷 沟壑 深谷 西部 火星 纪念碑谷
islands = 岛 岛屿 海岛 群岛 小岛 热带岛屿 热带 海 大海 海洋 海边 海滩 沙滩 海岸 海湾 海滨 海水 碧海 湖 湖泊 湖边 湖面
  椰子树 椰树 棕榈 棕榈树 泻湖 珊瑚 礁石 水面 夏威夷 马尔代夫 巴厘岛 塞舌尔 斐济 加勒比 加勒比海 大溪地 三亚 海南 希腊
  爱琴海 太平洋 波浪 海浪
fjord = 峡湾 挪威峡湾
autumn = 秋 秋天 秋季 秋日 深秋 金秋 晚秋 秋色 秋意 秋景 秋叶 落叶 红叶 黄叶 枫叶 枫树 枫林 金黄的树叶 十月 十一月
  丰收
an autumn forest = 秋林 秋天的森林 秋天的树林
autumn night = 秋夜
winter night = 冬夜
dawn = 黎明 拂晓 破晓 清晨 早晨 早上 凌晨 日出 朝阳 晨曦 晨光 旭日 天亮 曙光 清早 一大早 朝霞 太阳升起 晨
morning mist = 晨雾
noon = 正午 中午 白天 白昼 午后 下午 午间 大白天 日间 晌午 烈日
dusk = 黄昏 傍晚 日落 夕阳 晚霞 落日 暮色 薄暮 太阳下山 太阳落山 日暮 余晖 黄昏时分
night = 夜 夜晚 晚上 夜里 午夜 深夜 半夜 夜间 黑夜 夜色 月光 月亮 月夜 满月 明月 星星 星空 繁星 星夜 夜空 银河 天黑
  漆黑 入夜 满天繁星
polar night = 极光 极夜
clear sky = 晴 晴天 晴朗 晴空 晴空万里 万里无云 蓝天 蔚蓝的天空 好天气 放晴 阳光明媚 天晴 碧空
sunshine = 阳光 阳光灿烂 出太阳
cloudy = 云 多云 阴天 阴 乌云 云层 云朵 白云 阴云 阴沉 灰蒙蒙的天空 云彩
fog = 雾 雾气 大雾 迷雾 烟雾 雾霾 霾 有雾 云雾 起雾 雾蒙蒙 朦胧
a little fog = 薄雾 轻雾 小雾
heavy fog = 浓雾 大雾弥漫
storm = 风暴 暴风 暴风雨 台风 飓风 狂风 大风 狂风暴雨 暴雨 雷暴 雷雨 雷雨交加 打雷 雷 雷声 闪电 电闪雷鸣 风雨 坏天气
rain = 雨 下雨 大雨 雨天 下大雨 阵雨 倾盆大雨 雨水 瓢泼大雨
a little rain = 小雨 毛毛雨 细雨 下小雨 微雨
no = 没有 无 没 别 不要 不想要 莫 勿 不带 不含
remove = 去掉 去除 移除 删除 除去 消除 拿掉 赶走 驱散 清除 停止 取消 不再 不要再 别再 结束 拿走 弄走
is gone = 散了 散开 散去 停了 消失 消失了 没了 融化 融化了 化了 过去了 走了 消散 退去 停下 停 结束了 不见了
not = 不是 并非 不
instead of = 而不是 代替
, no = 也没有 也不要 也无
becomes = 变成 变为 成为 换成 改成 转为 化为 变作
no longer = 已经不是
and = 和 与 跟 以及 还有 并且 同时 并 及
, = ， 、 。 ； ！ ？ ： 但是 但 然后 接着 而且 要 想要
in = 在 里 中 上 下 里面 之中 时 的时候 时分 下的 上的 中的 里的 之间 之中的
between = 介于
half = 一半 半 各一半
a little = 一点 一点点 有点 有一点 一些 些许 少许 稍微 略微 淡淡的 轻微 微微
very = 很 非常 特别 十分 极其 极 超级 完全
heavy = 厚厚的 浓浓的 浓 厚 浓密的 茂密的 巨大的 强烈的
more = 更多 更多的 再多 再多一些 再多一点 多一点 多一些 多点 更浓 更大 更强 增加 加 加点 加上 添加 更 更加 浓一点
  大一点 大一些 再来点 更密 更厚 再来一点 再浓一点 再大一点 加大 加强
less = 更少 更少的 少一点 少一些 少点 小一点 小一些 小点 减少 减弱 弱一点 淡一点 淡一些 更小 更淡 更弱 变小 变淡 减小
  轻一点 降低
darker = 暗一点 暗一些 暗点 更暗 黑一点 黑一些 更黑 再暗一点 再黑一点 变暗 暗下来 调暗 再暗一些 昏暗一点
brighter = 亮一点 亮一些 亮点 更亮 再亮一点 再亮一些 变亮 明亮一点 更明亮 调亮 亮起来 明亮一些
later = 晚一点 晚一些 更晚 再晚一点
earlier = 早一点 早一些 更早 再早一点
colder = 更冷 冷一点 冷一些 再冷一点 变冷
warmer = 更暖 更暖和 暖一点 暖和一点 变暖 暖和一些 温暖一点
hotter = 更热 热一点 热一些 变热
drier = 更干 干一点 更干燥 干燥一点
wetter = 更湿 湿一点 更潮湿 湿润一点
greener = 更绿 绿一点
 = 今天 明天 昨天 后天 聊天 天气 天空 上海 海报 海关 云服务 云端 红烧 中国 中间 不错 不好意思 一样 上班 下班 下午茶
  上网 下载 沙发 沙拉 草稿 冰箱 冰淇淋 冰激凌 雪糕 雷达 树立 夜宵 阴谋 岛国 星期 星期天 星期日 月份 森林公园管理处
  林先生 没关系 没事 不知道 不是吗 要是 重要 主要 需要 和平 加油 加班 参加 更新 大概 下面 上面 下次 上次 里程 中心
  在线 现在 不行 特别是 要求
"""


def _entries() -> dict[str, str]:
    out: dict[str, str] = {}
    english = ""
    for line in _TABLE.strip().splitlines():
        head, has_head, rest = line.partition("=")
        english = head.strip() if has_head else english
        out |= dict.fromkeys((rest if has_head else line).split(), english)
    return out


_ENGLISH = _entries()
_LONGEST = max(map(len, _ENGLISH))


def has_chinese(text: str) -> bool:
    return _CHINESE.search(text) is not None


def to_english(text: str) -> str:
    """The known words of a Chinese sentence in English, in their order; other scripts in it stay as they are."""
    out: list[str] = []
    i = 0
    while i < len(text):
        size = next((n for n in range(min(_LONGEST, len(text) - i), 0, -1) if text[i : i + n] in _ENGLISH), 0)
        if size:
            out.append(f" {_ENGLISH[text[i : i + size]]} ")
        elif not _CHINESE.match(text[i]):
            out.append(text[i])
        else:
            out.append(" ")
        i += size or 1
    return " ".join("".join(out).split())
