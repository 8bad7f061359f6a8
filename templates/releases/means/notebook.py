# %% [markdown]
# ## Totals and means · 总数与均值

# %%
groups = table("totals.csv")
package = json.loads((FOLDER / "datapackage.json").read_text(encoding="utf-8"))
fields = next(each for each in package["resources"] if each["name"] == "totals")["schema"]["fields"]
first = next(place for place, field in enumerate(fields) if field.get("title") == "What is measured")
of_column, number = groups.columns[first], groups.columns[first + 1]
without = next(each["name"] for each in fields if each.get("title", "").endswith("without a value"))
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
# Each number and total is measured as a weighted sum of what `measurement.npy` holds: (columns, groups, sums).
# `release.json` has the weights, and between which ends numbers and totals can lie: margins are cut to these. A margin
# is the quantile of the continuous noise that is weighted so, and one step of each whole number more.
#
# The files have what could be true of one group: the nearest whole number, and that number times the mean, which lies
# between the bounds. A margin reaches beyond such an estimate by a tenth of its length at least, unless nothing beyond
# is possible.
#
# Where the number of rows is public, all groups' people, with a value and without, add up to it for certain: sums are
# moved to where they do, by as much of the noise as that takes off, and so groups are whole people that add up to it.
#
# 每个人数和总数都是按 `measurement.npy` 中所测数值的加权和测得的：（列，组，和）。权重见 `release.json`，
# 其中也写明人数和总数可能落在哪两端之间：误差范围被截断到这两端。
# 误差范围是按同样权重相加的连续噪声的分位数，再为每个整数加一步。
#
# 文件中是一个组可能有的数：最接近的整数，以及该数乘以均值，均值位于上下界之间。
# 误差范围在这样的估计之外至少还延伸其长度的十分之一，除非其外没有可能的值。
#
# 若行数是公开的，所有组有值与无值的人数相加必为该数：各个和移到使其成立之处，噪声也相应减小，各组均为整数且相加为该数。


# %%
def weighted_half_width(law, weights, others, times):
    """others: the weights of the noise of so many other groups."""
    repeated = np.repeat([1.0, times], [len(weights), len(others)])
    weights = np.abs(np.concatenate([weights, others]))
    if not (repeated * weights).any():
        return 0.0
    margin = repeated @ weights
    if law["law"] == "discrete-gaussian":
        return NORMAL * width(law) * math.sqrt(repeated @ weights**2) + margin
    scaled = weights / weights.max()
    error = math.sqrt(repeated @ scaled**2)
    angles = (np.arange(2**14) + 0.5) * 4e-3 / math.sqrt(2) / error
    of_noise = np.exp(-np.log1p(np.multiply.outer(angles, scaled) ** 2) @ repeated) / angles
    low, high = 0.0, 20.0 * error
    for _step in range(50):
        middle = (low + high) / 2
        covered = 2 / math.pi * (np.sin(angles * middle) * of_noise).sum() * (angles[1] - angles[0])
        low, high = (low, middle) if covered >= LEVEL else (middle, high)
    return high * weights.max() * width(law) + margin


def about(estimate, low, high, least, most):
    room = (high - low) / 10
    return np.minimum(low, np.maximum(estimate - room, least)), np.maximum(
        high, np.minimum(estimate + room, most)
    )


measured = np.load(FOLDER / "measurement.npy").astype(float)
for sums, planned, readings in zip(measured, plan["columns"], facts["readings"], strict=True):
    own = groups[groups[of_column].astype(str).str.removeprefix("'") == readings["column"]]
    adding, of_people, part = readings.get("adding_up"), np.zeros(sums.shape[1]), 0.0
    if adding:
        of_people = np.array(adding["weights"])
        part = 1 / (len(sums) * (of_people @ of_people))
        sums = sums + part * (adding["rows"] - (sums @ of_people).sum()) * of_people
        together = own[number].sum() + own[without].sum()
        compare(f"People in all · 总人数: {readings['column']}", together, adding["rows"])
    for name, weights in readings["weights"].items():
        again, weights = sums @ np.array(weights), np.array(weights)
        others = -part * (weights @ of_people) * of_people
        noisy = slice(readings["public_sums"], None)
        half = weighted_half_width(planned["noise"], (weights + others)[noisy], others[noisy], len(sums) - 1)
        least, most = readings["possible"][name]
        least, most = (-np.inf if least is None else least, np.inf if most is None else most)
        place = list(groups.columns).index(number) + (3 if name == "total" else 0)
        stated, lower, upper = (own[groups.columns[place + step]].to_numpy() for step in range(3))
        if name == "number":
            if readings["public_sums"]:
                most = np.rint(sums[:, 0] / planned["unit"])
            if adding:
                most = adding["rows"]
            in_all, people = again, stated if adding else np.rint(np.clip(again, 0, most))
            estimate = people
        else:
            bottom = float(planned["column"]["attribute"]["lower"])
            above, _, below = planned["column"]["step"].partition("/")
            top = bottom + planned["steps"] * float(above) / float(below or 1)
            step = (top - bottom) / planned["steps"]
            mean = np.clip(again / np.where((people > 0) & (in_all > 0), in_all, 1), bottom, top)
            estimate = people * bottom + step * np.rint(people * (mean - bottom) / step)
        compare(f"Estimates · 估计值: {name}, {readings['column']}", stated, estimate)
        low = np.clip(np.minimum(again, most) - half, least, most)
        high = np.clip(np.maximum(again, least) + half, least, most)
        # A group that may have nobody may have a total of 0.
        empty = own[f"{number}_lower"].to_numpy() <= 0
        if name == "total":
            low, high = np.where(empty, np.minimum(low, 0), low), np.where(empty, np.maximum(high, 0), high)
        low, high = about(estimate, low, high, least, most)
        compare(f"Margins · 误差范围: {name}, {readings['column']}", high - low, upper - lower, within=1e-3)
