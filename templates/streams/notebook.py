# %% [markdown]
# ## The running counts · 持续计数

# %%
series = table("series.csv")
series["margin"] = series["interval_upper"] - series["released_count"]
for value, own in series.groupby("value", dropna=False, sort=False):
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    axes.fill_between(own["period"], own["interval_lower"], own["interval_upper"], color="#1f5fbf", alpha=0.2)
    axes.plot(own["period"], own["released_count"], color="#1f5fbf")
    axes.set_xlabel(both("Period", "周期"))
    title = both("Running count", "持续计数")
    axes.set_title(title if pd.isna(value) else f"{title}: {value}")
    plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# A count's noise is a weighted sum of noises; its standard error says how many of them there are. Where all weights are
# one, the margin is the exact one of so many noises. Where they are not, it lies between that of normal noise and the
# farthest that any such sum reaches, and `python -m mechanisms.verify` derives it.
#
# 一个计数的噪声是若干份噪声的加权和；其标准误说明有多少份。若所有权重都是一，误差范围就是这么多份噪声的精确误差范围。
# 否则它介于正态噪声的误差范围与这种和所能偏离的最远处之间，由 `python -m mechanisms.verify` 推导。

# %%
noise, errors, margins = plan["noise"], series["standard_error"].to_numpy(), series["margin"].to_numpy()
one = standard_error(noise)
terms = (errors / one) ** 2 if one else 0 * errors
whole = np.rint(terms).astype(int)
if np.allclose(terms, whole, rtol=1e-4) and whole.min() > 0:
    exact = {m: half_width(noise, int(m)) for m in np.unique(whole)}
    compare("Margins of running counts · 持续计数的误差范围", margins, [exact[m] for m in whole])
else:
    reach = math.log(20) / math.sqrt(2) if noise["law"] == "discrete-laplace" else NORMAL
    farthest = np.minimum(reach * errors + 9 / 16 * terms**0.5, math.sqrt(20) * errors)
    least = np.minimum(NORMAL * errors, farthest)
    what = "Margins of running counts, within a row · 持续计数的误差范围，相差不超过一行"
    compare(what, margins, np.clip(margins, least - 1, farthest + 1))
