# %% [markdown]
# ## The counts · 计数

# %%
cells = table("histogram.csv")
names = list(cells.columns[: cells.columns.get_loc("noisy_count")])
labels = texts(cells[names].head(MOST_BARS)).agg(", ".join, axis=1)
margins = cells["interval_upper"] - cells["noisy_count"]
title = both("Noisy counts, and their 95 % intervals", "加噪计数及其 95% 区间")
bars(labels, cells["noisy_count"], margins, title)
plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# Where each count has noise of its own, its margin is that of one noise, and a sum of m counts has the margin of m
# noises together: half-widths are not added. By other methods cells share noise, and `python -m mechanisms.verify`
# derives their margins.
#
# 若每个计数都有自己的噪声，其误差范围就是一份噪声的误差范围，m 个计数之和的误差范围则是 m 份噪声合在一起的误差范围：
# 半宽不能相加。其他方法的单元格共享噪声，其误差范围由 `python -m mechanisms.verify` 推导。

# %%
own_noise = plan["standard_error"] is not None and math.isclose(
    plan["standard_error"], standard_error(plan["noise"]), rel_tol=1e-6
)
if own_noise:
    compare("Margins of cells · 单元格的误差范围", margins, half_width(plan["noise"]))
    errors = cells["standard_error"]
    compare("Standard errors of cells · 单元格的标准误", errors, standard_error(plan["noise"]))
    total = cells["noisy_count"].sum()
    print(f"All cells together · 所有单元格之和: {total:,.0f} ± {half_width(plan['noise'], len(cells)):,}")
elif plan["half_width"] is not None:
    compare("Margins of cells, as the plan has them · 计划所述的单元格误差范围", margins, plan["half_width"])
