# %% [markdown]
# ## The summary · 汇总

# %%
from statistics import NormalDist

summary = table("summary.csv")
counted = summary[(summary["statistic"] == "number") & summary["column"].isna()]
margins = (counted["interval_upper"] - counted["interval_lower"]) / 2
everybody = both("everybody", "所有人")
unit = counted["unit"].iloc[0]
title = both(f"Number of {unit}, and 95 % intervals", f"{'行数' if unit == 'rows' else '人数'}及 95% 区间")
bars(
    texts(counted["group"]).where(counted["whose"] == "group", everybody), counted["estimate"], margins, title
)
plt.show()
means = summary[(summary["statistic"] == "mean") & summary["reference"].isna()]
for column, own in means.groupby("column"):
    halves = (own["interval_upper"] - own["interval_lower"]) / 2
    whose = texts(own["group"]).where(own["whose"] == "group", everybody)
    title = both(f"Mean, and its 95 % interval: {column}", f"{column} 的均值及其 95% 区间")
    bars(whose, own["estimate"], halves, title)
    plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# The number of people, or of rows, in a group is the best linear estimate from every table that counts them;
# `release.json` has its standard error. Of such sums none reaches farther, in standard errors, than a single noise of
# this law. Where the number of rows is public, what all groups add up to has no noise, and each group's has less.
# Where only some groups seem to have somebody, margins are wider, so that 95 % of those that are told hold.
# People are whole: a margin that the rounded number lies at the end of is longer, and is left out here.
#
# 一组的人数（或行数）是由所有统计该组的表得出的最佳线性估计；其标准误见 `release.json`。
# 以标准误计，这样的和都不会比这种分布的一份噪声偏离得更远。若行数是公开的，所有组相加之数没有噪声，每组的噪声也较小。
# 若只有部分组看来有人，误差范围会更宽，使所给出的范围中有 95% 成立。
# 人数是整数：取整后的数若位于误差范围的一端，该范围会更长，此处不作比较。

# %%
told = facts["number_of_people"]
# Of each group, and of everybody, whose margin has no noise or that of several.
beyond = 1 - np.array([*told["levels"], 0.95])[: len(counted)]
is_laplace = told["law"] == "discrete-laplace"
reach = (
    -np.log(beyond) / math.sqrt(2)
    if is_laplace
    else np.array([NormalDist().inv_cdf(1 - p / 2) for p in beyond])
)
in_groups = (counted["whose"] == "group") & (counted["interval_lower"] > 0)
in_groups &= counted["interval_upper"] < counted["estimate"].max()
ends = (counted["estimate"] - counted["interval_lower"], counted["interval_upper"] - counted["estimate"])
in_groups &= np.minimum(*ends) > 0.11 * 2 * margins
compare(
    f"Margins of numbers of {unit} · 数目的误差范围",
    margins[in_groups],
    reach[in_groups] * told["standard_error"],
)
