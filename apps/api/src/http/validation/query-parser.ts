/**
 * Reads a query string: `key=value` pairs and nothing clever (no brackets, no arrays by index). A key given twice becomes
 * an array, which every field refuses. Bytes that are not UTF-8 become a lone surrogate, which every field refuses too,
 * where the standard parser would replace them silently.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  if (!text) return query;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = decode(at < 0 ? '' : pair.slice(at + 1));
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}

const NOT_UTF8 = '\udcff';

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return NOT_UTF8;
  }
}
