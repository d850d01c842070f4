/** Compares two lists as multisets. @returns a line for each surplus and each missing item */
export function difference(found: string[], expected: string[]): string[] {
  return [...minus(found, expected).map((line) => `surplus: ${line}`), ...minus(expected, found).map((line) => `missing: ${line}`)];
}

function minus(these: string[], those: string[]): string[] {
  const left = new Map<string, number>();
  for (const each of those) left.set(each, (left.get(each) ?? 0) + 1);
  return these.filter((each) => {
    const count = left.get(each) ?? 0;
    left.set(each, count - 1);
    return count <= 0;
  });
}
