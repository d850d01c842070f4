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
} as const;
