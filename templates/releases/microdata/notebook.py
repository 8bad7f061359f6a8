# %% [markdown]
# ## The rows, and what was counted of their columns · 各行及各列的计数
#
# The rows in `synthetic.csv` are made up. What was measured has margins; the rows have none of their own.
#
# `synthetic.csv` 中的行是编造的。所测的计数有误差范围；这些行本身没有。

# %%
rows, columns = table("synthetic.csv"), table("columns.csv")
print(rows.head().to_string(index=False))
columns["margin"] = columns["interval_upper"] - columns["noisy_count"]
for column, own in columns.groupby("column", sort=False):
    title = both(f"Noisy counts: {column}", "加噪计数")
    bars(texts(own["value"]), own["noisy_count"], own["margin"], title)
    plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# Each count has noise of its own, of the law that `release.json` names for its column or measured table.
#
# 每个计数都有自己的噪声，其分布见 `release.json` 中该列或所测表的说明。

# %%
for column, own in columns.groupby("column", sort=False):
    compare(f"Margins · 误差范围: {column}", own["margin"], half_width(facts["noise_of_columns"][column]))
if facts["noise_of_tables"]:
    measured = table("measured.csv")
    measured["margin"] = measured["interval_upper"] - measured["noisy_count"]
    for place, own in measured.groupby("measurement"):
        law = facts["noise_of_tables"][int(place) - 1]
        compare(f"Margins of measured table · 所测表的误差范围: {place}", own["margin"], half_width(law))
