# %% [markdown]
# ## The choice · 选择

# %%
choice = table("choice.csv")
print(choice.to_string(index=False))

# %% [markdown]
# ## How sure it is · 有多大把握
#
# No count is published, so no count has a margin. What is known beforehand is how often the better of two candidates
# wins, by how many people it leads.
#
# 没有公布计数，因此没有误差范围。事先知道的是：两个候选中较好的一个领先多少人时，它有多大机会胜出。

# %%
leads, chances_of_best = (np.array(each, float) for each in zip(*plan["resolved"], strict=True))
rate, gaps = fraction(plan["rate"]), leads * facts["points_per_row"]


def noisy_max():
    """Both scores have discrete Laplace noise: how often the difference of two noises is less, or half of a tie."""
    q, rest = math.exp(-rate), -math.expm1(-rate)
    ties = gaps + 1 + 2 * q**2 / (1 - q**2)
    beyond = q * ((ties + 1) / rest + q / rest**2)
    return 1 - (rest / (1 + q)) ** 2 * np.exp(-rate * gaps) * (ties / 2 + beyond)


odds = np.exp(-rate * gaps)
ways = {
    "permute-and-flip": 1 - odds / 2,
    "exponential-mechanism": 1 / (1 + odds),
    "report-noisy-max": noisy_max(),
}
again = ways[plan["mechanism"]]
compare("Chances of the better one · 较好者胜出的概率", chances_of_best, again)
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(leads, chances_of_best, marker="o", color="#1f5fbf")
axes.set_xscale("log")
axes.set_xlabel(both("Lead, in people", "领先的人数"))
axes.set_title(both("How often the better of two candidates wins", "两个候选中较好者胜出的频率"))
plt.show()
