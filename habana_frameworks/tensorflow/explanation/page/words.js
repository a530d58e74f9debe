// Words for rules and filter values, and sentences made of their texts.

const NOTHING = { rule: "in a cluster", device: "no device", dtype: "no result" };

function ruleLabel(name) { return (state.data.rules[name] && state.data.rules[name].label) || name; }

// The text of a filter's value; null stands for ops without a rule, device or result.
function filterLabel(filter, value) {
  if (value === null) return NOTHING[filter];
  return filter === "rule" ? ruleLabel(value) : value;
}

// A text as a sentence. Names such as jit_compile keep their first letter.
function sentence(text) {
  const start = /^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(start) ? start : start + ".";
}

// The sentences about a rule: the reason for an op or cluster, if any, the rule's meaning, and the remedy.
function ruleSentences(name, reason) {
  const rule = state.data.rules[name];
  const texts = [reason, rule && rule.meaning].filter(Boolean).map(sentence);
  const remedy = rule && rule.remedy.replace(/^nothing$/, "") ? [`What to do: ${rule.remedy.replace(/[.]$/, "")}.`] : [];
  return [...new Set(texts), ...remedy];
}

function ruleElements(name, reason, tag) {
  return ruleSentences(name, reason).map((text) => element(tag, {}, text));
}
