# %% [markdown]
# ## The estimates · 估计值

# %%
answers, estimates = table("answers.csv"), table("estimates.csv")
margins = estimates["interval_upper"] - estimates["estimate"]
bars(
    texts(estimates.iloc[:, 0]),
    estimates["estimate"],
    margins,
    both("Estimates, and their 95 % intervals", "估计值及其 95% 区间"),
)
plt.show()

# %% [markdown]
# ## From the answers to the estimates and margins · 从回答到估计值与误差范围
#
# Each person's answer was randomised. How many have a value follows from how many answered it, since the chances to
# answer truly (`keep`) and otherwise (`other`) are known.
#
# 每个人的回答都经过随机化。由于如实回答（`keep`）与其他回答（`other`）的概率已知，
# 有某个值的人数可由给出该回答的人数得出。

# %%
keep, other, rows = fraction(plan["keep"]), fraction(plan["other"]), len(answers)
if plan["mechanism"] == "randomised-response":
    said = answers.iloc[:, 0].value_counts(dropna=False)
    reports = estimates.iloc[:, 0].map(lambda value: said.get(value, 0)).to_numpy(float)
else:
    reports = answers.sum().to_numpy(float)
counts = (reports - rows * other) / (keep - other)


def variance(shares):
    return shares * keep * (1 - keep) + (1 - shares) * other * (1 - other)


def reach(shares):
    return (NORMAL * np.sqrt(rows * variance(shares) + NORMAL**2 / 4) + 9 / 16) / (keep - other)


shares = np.clip(counts / rows, 0, 1)
ends = [np.clip((counts + side * reach(shares)) / rows, 0, 1) for side in (-1, 1)]
compare("Estimates · 估计值", estimates["estimate"], counts)
errors = np.sqrt(rows * variance(shares)) / (keep - other)
compare("Standard errors · 标准误", estimates["standard_error"], errors)
compare("Margins of estimates · 估计值的误差范围", margins, np.maximum(*(reach(end) for end in ends)))
