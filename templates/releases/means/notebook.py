# %% [markdown]
# ## Totals and means · 总数与均值

# %%
groups = table("totals.csv")
package = json.loads((FOLDER / "datapackage.json").read_text(encoding="utf-8"))
fields = next(each for each in package["resources"] if each["name"] == "totals")["schema"]["fields"]
first = next(place for place, field in enumerate(fields) if field.get("title") == "What is measured")
of_column, number = groups.columns[first], groups.columns[first + 1]
labels = texts(groups[list(groups.columns[: first + 1])].head(MOST_BARS)).agg(", ".join, axis=1)
bars(
    labels,
    groups[number],
    groups[f"{number}_upper"] - groups[number],
    both("People with a value, and 95 % intervals", "有值的人数及 95% 区间"),
)
plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# Each number and total is a weighted sum of what was measured, which `measurement.npy` holds: (columns, groups, sums).
# `release.json` has the weights, and between which ends numbers and totals can lie: they are cut to these. The margin
# is the quantile of the continuous noise that is weighted so, and one step of each whole number more.
#
# 每个人数和总数都是所测数值的加权和，这些数值在 `measurement.npy` 中：（列，组，和）。权重见 `release.json`，
# 其中也写明人数和总数可能落在哪两端之间：它们被截断到这两端。
# 误差范围是按同样权重相加的连续噪声的分位数，再为每个整数加一步。


# %%
def weighted_half_width(law, weights):
    weights = np.abs(np.array([weight for weight in weights if weight]))
    if not weights.size:
        return 0.0
    if law["law"] == "discrete-gaussian":
        return NORMAL * width(law) * np.linalg.norm(weights) + weights.sum()
    scaled = weights / weights.max()
    angles = (np.arange(2**14) + 0.5) * 4e-3 / math.sqrt(2 * (scaled**2).sum())
    of_noise = np.exp(-np.log1p(np.multiply.outer(angles, scaled) ** 2).sum(axis=1)) / angles
    low, high = 0.0, 20.0 * np.linalg.norm(scaled)
    for _step in range(50):
        middle = (low + high) / 2
        covered = 2 / math.pi * (np.sin(angles * middle) * of_noise).sum() * (angles[1] - angles[0])
        low, high = (low, middle) if covered >= LEVEL else (middle, high)
    return high * weights.max() * width(law) + weights.sum()


measured = np.load(FOLDER / "measurement.npy").astype(float)
for sums, planned, readings in zip(measured, plan["columns"], facts["readings"], strict=True):
    own = groups[groups[of_column].astype(str).str.removeprefix("'") == readings["column"]]
    for name, weights in readings["weights"].items():
        again = sums @ np.array(weights)
        half = weighted_half_width(planned["noise"], weights[readings["public_sums"] :])
        least, most = readings["possible"][name]
        least, most = (-np.inf if least is None else least, np.inf if most is None else most)
        place = list(groups.columns).index(number) + (3 if name == "total" else 0)
        stated, lower, upper = (own[groups.columns[place + step]].to_numpy() for step in range(3))
        compare(f"Estimates · 估计值: {name}, {readings['column']}", stated, np.clip(again, least, most))
        low = np.clip(np.minimum(again, most) - half, least, most)
        high = np.clip(np.maximum(again, least) + half, least, most)
        # A group that may have nobody may have a total of 0.
        empty = own[f"{number}_lower"].to_numpy() <= 0
        low, high = np.where(empty, np.minimum(low, 0), low), np.where(empty, np.maximum(high, 0), high)
        compare(f"Margins · 误差范围: {name}, {readings['column']}", high - low, upper - lower, within=1e-3)
