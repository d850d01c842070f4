/** Spreadsheets ignore invisible characters before a formula, such as U+0085; `escape_formulas` looks only at the first character. */
const HIDDEN_FORMULA = /^[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

/** `-12.27` for -1227 cents. */
export function decimalOf(cents: bigint): string {
  const [sign, size] = cents < 0n ? ['-', -cents] : ['', cents];
  return `${sign}${size / 100n}.${String(size % 100n).padStart(2, '0')}`;
}

/**
 * With a BOM, Excel reads UTF-8. Names are texts of others: cells that begin with = + - @ would be run as formulas, and what follows a line
 * break of any kind would be a row of its own. A bigint is an amount in cents.
 */
export const CSV = {
  escape_formulas: true,
  record_delimiter: 'windows',
  quoted_match: /[\r\n]/,
  cast: { string: (text: string) => (HIDDEN_FORMULA.test(text) ? `'${text}` : text), bigint: decimalOf },
} as const;
