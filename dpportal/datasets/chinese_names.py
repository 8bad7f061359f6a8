"""What column names in Chinese say of a column's kind: there are no spaces, and the last word says what it is."""

from __future__ import annotations

import re

_RUN = re.compile("[\u4e00-\u9fff]+")
QUESTIONS, ANSWERS = ("是否",), ("否", "是")
# Words by the English one that says the same; in short signs and, where they differ, in full ones.
SAME_BOUNDS = {
    **dict.fromkeys(("年龄", "年齡", "岁数", "周岁"), "age"),
    **dict.fromkeys(("出生年", "出生年份"), "birthyear"),
    **dict.fromkeys(("月份", "出生月"), "month"),
    **dict.fromkeys(("百分比", "百分率"), "percent"),
}
_KINDS = {
    "date": "日期 生日 出生日期 年月日 时间戳",
    "integer": (
        "年 年份 年度 人数 人口数 户数 数量 个数 次数 件数 套数 天数 周数 子女数 孩子数 房间数 年数 年限"
    ),
    "real": (
        "收入 工资 薪资 薪水 薪酬 金额 价格 单价 总价 费用 成本 支出 消费 租金 房租 "
        "房价 营业额 销售额 身高 体重 面积 分数 成绩 得分 评分 比例 比率 占比 率 "
        "指数"
    ),
    "categorical": (
        "性别 性別 民族 种族 省 省份 省市 市 城市 县 区 区县 地区 區域 区域 国家 "
        "国籍 籍贯 户籍 户口 学历 學歷 学位 程度 职业 職業 行业 行業 婚姻 婚否 状况 "
        "狀況 状态 类 类型 类别 種類 种类 级 级别 等级 组 组别 段 档 部门 科室 "
        "院系 学院 学校 专业 班级 年级 职称 职位 职务 岗位 语言 宗教 信仰 诊断 病种 "
        "关系 代码 政治面貌 血型"
    ),
}
DAY_OF_BIRTH = ("生日", "出生日期")
KIND_OF_WORD = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_KNOWN = {*SAME_BOUNDS, *KIND_OF_WORD}
_LONGEST = max(map(len, _KNOWN))


def words(name: str) -> list[str]:
    """The word with which each run of Chinese signs ends, if it is known; a question with which it begins, first."""
    matches = []
    for run in _RUN.findall(name):
        matches += [question for question in QUESTIONS if run.startswith(question)]
        endings = (run[-length:] for length in range(min(_LONGEST, len(run)), 0, -1))
        matches += [next((ending for ending in endings if ending in _KNOWN), "")]
    return list(filter(None, matches))
