# %% [markdown]
# ## The answers · 回答

# %%
answers = table("answers.csv")
margins = answers["interval_upper"] - answers["answer"]
title = both("Answers, and their 95 % intervals", "回答及其 95% 区间")
bars(answers["query"], answers["answer"], margins, title)
plt.show()

# %% [markdown]
# ## The margins · 误差范围
#
# An answer is a weighted sum of what was measured. Its margin follows from its standard error σ: no weighted sum of
# noises of this law reaches farther than the one below. Where each cell was counted by itself, an answer that adds up m
# cells has the exact margin of m noises.
#
# 回答是所测数值的加权和。其误差范围由标准误 σ 得出：这种分布的噪声的任何加权和都不会超出下面的界限。
# 若每个单元格是单独计数的，把 m 个单元格相加的回答就有 m 份噪声的精确误差范围。

# %%
noise, errors = plan["noise"], answers["standard_error"].to_numpy()
one = standard_error(noise)
reach = math.log(20) / math.sqrt(2) if noise["law"] == "discrete-laplace" else NORMAL
again = np.minimum(reach * errors + 9 / 16 * errors / one, math.sqrt(20) * errors) if one else 0 * errors
if plan["mechanism"] == "identity-strategy":
    terms = np.rint((errors / one) ** 2).astype(int)
    unit = 10 ** np.maximum(0, np.floor(np.log10(np.maximum(terms, 1))).astype(int) - 2)
    exact = {m: half_width(noise, int(m)) for m in np.unique(-(-terms // unit) * unit)}
    whole = np.array([exact[m] for m in -(-terms // unit) * unit])
    again = np.where(np.isclose(margins, again, rtol=1e-4), again, whole)
compare("Margins of answers · 回答的误差范围", margins, again)
