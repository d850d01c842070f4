/** A kind of text of any length. Each character is a byte on the wire. */
export interface Kind {
  name: string;
  unit: string;
  /** Text around the units: a start that a regular expression matches, or an end at which it fails. */
  start?: string;
  end?: string;
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

/** Kinds of text, encoded for a JSON string. */
export const JSON_TEXTS: Kind[] = [
  { name: 'letters', unit: 'a' },
  { name: 'letters and a blank', unit: 'a', end: ' ' },
  { name: 'digits', unit: '7', end: 'x' },
  { name: 'blanks', unit: ' ' },
  { name: 'blanks inside', unit: ' ', start: 'a', end: 'a' },
  { name: 'line breaks', unit: '\\n', end: 'a' },
  { name: 'control characters', unit: '\\u0001' },
  { name: 'escaped letters', unit: '\\u0061' },
  { name: 'quotes', unit: '\\"' },
  { name: 'backslashes', unit: '\\\\' },
  { name: 'halves of pairs', unit: '\\ud800' },
  { name: 'dots', unit: '.', start: 'a@', end: '!' },
  { name: 'labels', unit: 'a.', start: 'a@', end: '!' },
  { name: 'at signs', unit: '@' },
  { name: 'words of a slug', unit: 'a-', end: '!' },
  { name: 'an address on the web', unit: 'a', start: 'https://', end: ' ' },
  { name: 'segments of an address', unit: '../', start: 'https://a/' },
  { name: 'tags', unit: '<a' },
  { name: 'accented letters', unit: utf8('é') },
  { name: 'emoji', unit: utf8('💩') },
  { name: 'combining marks', unit: utf8('\u0301') },
  { name: 'variation selectors', unit: utf8('\ufe0f') },
];

/** Encoded for a URL. */
export const URL_TEXTS: Kind[] = [
  { name: 'letters', unit: 'a' },
  { name: 'digits', unit: '7', end: 'x' },
  { name: 'zeros', unit: '0', end: '1' },
  { name: 'plus signs', unit: '+', end: 'a' },
  { name: 'broken escapes', unit: '%' },
  { name: 'NULs', unit: '%00' },
  { name: 'emoji', unit: '%F0%9F%92%A9' },
  { name: 'equals signs', unit: '=' },
  { name: 'dots', unit: '.' },
  { name: 'brackets', unit: '[a]' },
];

/** Encoded for a header. */
export const HEADER_TEXTS: Kind[] = [
  { name: 'letters', unit: 'a', end: '!' },
  { name: 'blanks inside', unit: ' ', start: 'a', end: 'a' },
  { name: 'commas', unit: ',', end: 'a' },
  { name: 'a list', unit: 'a, ', end: '!' },
  { name: 'blanks and commas', unit: ' ,', start: '"a"', end: '!' },
  { name: 'parameters', unit: 'a=b;', start: 'application/json;' },
  { name: 'an open quote', unit: 'a', start: 'multipart/form-data; boundary="' },
  { name: 'entity tags', unit: '"a", ', end: '!' },
  { name: 'weak entity tags', unit: 'W/"a",' },
  { name: 'quotes', unit: '"' },
  { name: 'backslashes', unit: '\\' },
  { name: 'a key', unit: 'a', start: 'Token token=', end: '"' },
  { name: 'a key behind blanks', unit: ' ', start: 'Token', end: 'token=' },
  { name: 'addresses', unit: '1.1.1.1, ', end: '1.1.1.1' },
  { name: 'colons', unit: ':', end: '1' },
  { name: 'ranges', unit: '0-1,', start: 'bytes=' },
  { name: 'bytes beyond ASCII', unit: '\xff' },
];

/** Encoded for a quoted string in a part's header. */
export const PART_TEXTS: Kind[] = [
  { name: 'letters', unit: 'a' },
  { name: 'dots', unit: '.', end: 'a' },
  { name: 'dots inside', unit: '.', start: 'a', end: 'a.jpg' },
  { name: 'extensions', unit: '.a', end: '!' },
  { name: 'backslashes', unit: '\\\\' },
  { name: 'quotes', unit: '\\"' },
  { name: 'slashes', unit: '/' },
  { name: 'blanks', unit: ' ' },
  { name: 'escapes', unit: '%41' },
  { name: 'emoji', unit: utf8('💩') },
];

/** Text of about this many bytes, in whole units. */
export function textOf({ unit, start = '', end = '' }: Kind, size: number): string {
  const units = Math.floor((size - start.length - end.length) / unit.length);
  return start + unit.repeat(Math.max(1, units)) + end;
}

/** A list of as many items as fit into the size. */
export function manyOf(item: (index: number) => string, size: number, separator = ','): string {
  const items: string[] = [];
  for (let length = 0; ;) {
    const next = item(items.length);
    length += next.length + separator.length;
    if (length > size && items.length > 0) return items.join(separator);
    items.push(next);
  }
}
