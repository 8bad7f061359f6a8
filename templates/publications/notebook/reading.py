# %% [markdown]
# # Reading a release with differential privacy · 阅读差分隐私发布
#
# This notebook lies beside the files that it reads. It shows what they say, draws their charts, and works the margins
# out again from the noise that `release.json` states, with nothing of the portal that made them. It needs pandas, NumPy
# and matplotlib. A margin that does not follow from the noise stops it.
#
# 本笔记本与它所读取的文件放在一起。它显示这些文件的内容，绘制图表，并根据 `release.json` 所述的噪声重新计算误差范围，
# 不使用生成这些文件的门户。它需要 pandas、NumPy 和 matplotlib。若某个误差范围不能由噪声得出，它就会停止。

# %%
import json
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager

plt.rcParams["text.parse_math"] = False  # a dollar sign in a label is one
OF_CHINESE = ["CJK", "Han Sans", "Han Serif", "YaHei", "SimHei", "SimSun", "PingFang", "Heiti", "WenQuanYi"]
installed = {font.name for font in font_manager.fontManager.ttflist}
chinese_fonts = sorted(name for name in installed if any(part in name for part in OF_CHINESE))
plt.rcParams["font.family"] = [*plt.rcParams["font.family"], *chinese_fonts[:1]]
FOLDER = Path(__file__).parent if "__file__" in globals() else Path()
MOST_BARS = 40
facts = json.loads((FOLDER / "release.json").read_text(encoding="utf-8"))
plan = facts["plan"]
print(facts["title"])
print(facts.get("loss", ""))
print(facts["statement"])


def table(name):
    """A CSV file beside the notebook; empty fields are missing values."""
    return pd.read_csv(FOLDER / name, keep_default_na=False, na_values=[""])


def both(english, chinese):
    """A text of a figure in both languages; in English alone where no font has Chinese."""
    return f"{english} · {chinese}" if chinese_fonts else english


# %% [markdown]
# ## The noise · 噪声
#
# Noise is a whole number. Discrete Laplace noise of scale t is k with a chance in proportion to exp(-|k|/t), discrete
# Gaussian noise to exp(-k²/(2σ²)). A margin is the least h such that the noise lies within ± h at least 95 times in
# 100.
#
# 噪声是整数。尺度为 t 的离散拉普拉斯噪声取 k 的概率与 exp(-|k|/t) 成正比，离散高斯噪声则与 exp(-k²/(2σ²)) 成正比。
# 误差范围是使噪声至少有 95% 的概率落在 ± h 之内的最小 h。

# %%
LEVEL = 0.95
NORMAL = 1.959963984540054
# Wider noise is worked out in larger steps, and sums that do not fit a circle of so many points as nearly normal ones.
WIDEST, MOST_POINTS = 5_000, 2**23


def fraction(text):
    """A number that is written as one, or as one over another."""
    above, _, below = str(text).partition("/")
    return int(above) / int(below or 1)


def width(law):
    """The scale of Laplace noise, or the σ of Gaussian noise."""
    if law["law"] == "discrete-laplace":
        return fraction(law["scale"])
    return math.sqrt(fraction(law["variance_parameter"]))


def chances(law):
    """Whole numbers around 0, the chance of each as noise, and how many people a step of them is."""
    step = max(1, math.ceil(width(law) / WIDEST))
    reach = math.ceil(40 * width(law) / step) + 2
    k = np.arange(-reach, reach + 1)
    scaled = k * step / width(law)
    weights = np.exp(-np.abs(scaled)) if law["law"] == "discrete-laplace" else np.exp(-(scaled**2) / 2)
    return k, weights / weights.sum(), step


def standard_error(law):
    """Of one noise."""
    k, chance, step = chances(law)
    return step * math.sqrt((k.astype(float) ** 2 * chance).sum())


def half_width(law, terms=1):
    """The margin of one count, or of a sum of several counts that each have noise of their own."""
    k, chance, step = chances(law)
    error = math.sqrt(terms) * standard_error(law) / step
    points = 2 ** math.ceil(math.log2(max(2**10, 32 * error, 2 * len(k))))
    if points > MOST_POINTS:
        heavier = 3 / terms if law["law"] == "discrete-laplace" else 0
        return round(step * error * (NORMAL + (NORMAL**3 - 3 * NORMAL) / 24 * heavier))
    circle = np.bincount(k % points, weights=chance, minlength=points)
    summed = np.fft.irfft(np.fft.rfft(circle) ** terms, points)
    inside = summed[0] + 2 * np.concatenate([[0], np.cumsum(summed[1 : points // 2])])
    return step * int(np.argmax(inside >= LEVEL - 1e-12))


def texts(frame):
    """Every field as a text, of which a missing value is one."""
    return frame.astype(object).where(frame.notna(), both("missing", "缺失")).astype(str)


def compare(what, stated, again, within=1e-4):
    """Say how far margins that files state are from those that are worked out here; stop where they are others."""
    stated, again = np.broadcast_arrays(np.asarray(stated, float), np.asarray(again, float))
    if not stated.size:
        return
    apart = float(np.max(np.abs(stated - again) / np.maximum(1, np.abs(again))))
    print(f"{what}: {stated.size:,} worked out again, apart by {apart:.1g} at most · 已重新计算及其最大差异")
    if not apart <= within:
        raise ValueError(f"{what}: what files state does not follow from the noise · 文件所述不能由噪声得出")


def bars(names, values, halves, title):
    """A bar with its margin for each of the first names."""
    names, values, halves = ([*each][:MOST_BARS] for each in (names, values, halves))
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    errors = None if np.isnan(np.asarray(halves, float)).any() else halves
    axes.bar(range(len(names)), values, yerr=errors, color="#1f5fbf", ecolor="#1b2430", capsize=2)
    axes.set_xticks(range(len(names)), [str(name) for name in names], rotation=90)
    axes.set_title(title)
    return figure
