/** Patterns of simplified CHECK constraints, with their messages. */
const SHAPES: [RegExp, (found: string[]) => string][] = [
  [/^\w+ = ANY ARRAY\[(.+)\]$/, ([, set]) => `must be one of ${set!.replaceAll("'", '')}`],
  [
    /^(?:char_)?length<\w+> >= 1 AND (?:char_)?length<\w+> <= (\d+)$/,
    ([, most]) => `must have 1 to ${most} characters`,
  ],
  [/^(?:char_)?length<\w+> <= (\d+)$/, ([, most]) => `must have at most ${most} characters`],
  [/^cardinality<\w+> <= (\d+)$/, ([, most]) => `must have at most ${most} items`],
  [/^jsonb?_typeof<\w+> = '(array|object)'$/, ([, type]) => `must be an ${type}`],
  [/^\w+ <@ ARRAY\[(.+)\]$/, ([, set]) => `must contain only ${set!.replaceAll("'", '')}`],
  [/^octet_length\w+ <= (\d+)$/, ([, most]) => `must have at most ${most} bytes as JSON`],
  [/^\w+ = '(\w+)' = \w+ IS NOT NULL$/, ([, value]) => `must be given with ${value}, and only then`],
  [/^\w+ >= (-?\d+) AND \w+ <= (-?\d+)$/, ([, least, most]) => `must be from ${least} to ${most}`],
  [/^\w+ >= (-?\d+)$/, ([, least]) => `must be at least ${least}`],
  [/^\w+ > (-?\d+)$/, ([, least]) => `must be greater than ${least}`],
  [/^\w+ ~ '(\S+)'$/, ([, pattern]) => `must match ${pattern}`],
];

/** The message of a CHECK constraint; completes "<field>: …". */
export function describeRule(expression: string): string {
  const plain = simplify(expression);
  return (
    say(plain) ??
    plain
      .split(' AND ')
      .map((part) => say(part) ?? `must satisfy ${part}`)
      .join(' and ')
  );
}

function say(rule: string): string | undefined {
  for (const [shape, words] of SHAPES) {
    const found = shape.exec(rule);
    if (found) return words(found);
  }
  return undefined;
}

/** Removes PostgreSQL's casts and all parentheses except those of calls, which become `<>`. Texts stay unchanged. */
function simplify(expression: string): string {
  const texts: string[] = [];
  let plain = expression
    .replace(/'((?:[^']|'')*)'(?:::[a-z]+)?/g, (quoted, text: string) =>
      // PostgreSQL quotes numbers that have a cast.
      /^-?\d+$/.test(text) ? text : `#${texts.push(quoted.replace(/::[a-z]+$/, '')) - 1}`,
    )
    .replaceAll('"', '')
    .replace(/(\w)\((\w+)\)/g, '$1<$2>');
  for (let before = ''; before !== plain;) {
    before = plain;
    plain = plain.replace(/\(([^()]*)\)/, '$1').replace(/::(double precision|[a-z]+)/g, '');
  }
  return plain.replace(/#(\d+)/g, (_, place: string) => texts[Number(place)]!);
}
