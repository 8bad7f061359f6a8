# %% [markdown]
# ## The summary · 汇总

# %%
summary = table("summary.csv")
counted = summary[(summary["statistic"] == "number") & summary["column"].isna()]
margins = (counted["interval_upper"] - counted["interval_lower"]) / 2
whose = texts(counted["group"]).where(counted["whose"] == "group", "everybody")
bars(whose, counted["estimate"], margins, f"{counted['unit'].iloc[0].capitalize()}, and their 95 % intervals")
plt.show()
means = summary[(summary["statistic"] == "mean") & summary["reference"].isna()]
for column, own in means.groupby("column"):
    halves = (own["interval_upper"] - own["interval_lower"]) / 2
    whose = texts(own["group"]).where(own["whose"] == "group", "everybody")
    bars(whose, own["estimate"], halves, f"Mean of {column}, and its 95 % interval")
    plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# The number of people, or of rows, in a group is the best linear estimate from every table that counts them;
# `release.json` has its standard error. Of such sums none reaches farther, in standard errors, than a single noise of
# this law.
#
# 一组的人数（或行数）是由所有统计该组的表得出的最佳线性估计；其标准误见 `release.json`。
# 以标准误计，这样的和都不会比这种分布的一份噪声偏离得更远。

# %%
told = facts["number_of_people"]
reach = math.log(20) / math.sqrt(2) if told["law"] == "discrete-laplace" else NORMAL
in_groups = (counted["whose"] == "group") & (counted["interval_lower"] > 0)
compare(
    f"Margins of numbers of {counted['unit'].iloc[0]}", margins[in_groups], reach * told["standard_error"]
)
