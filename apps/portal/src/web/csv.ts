/** Spreadsheets skip what is not seen before a formula, such as U+0085; `escape_formulas` looks at the first character alone. */
const HIDDEN_FORMULA = /^[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

/**
 * Files for spreadsheets: with a BOM, Excel reads UTF-8. Names are texts of others: cells that begin with = + - @ would be
 * run as formulas, and what follows a line break of any kind would be a row of its own.
 */
export const CSV = {
  header: true,
  bom: true,
  escape_formulas: true,
  record_delimiter: 'windows',
  quoted_match: /[\r\n]/,
  cast: { string: (text: string) => (HIDDEN_FORMULA.test(text) ? `'${text}` : text) },
} as const;
