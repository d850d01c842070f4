/** The zeros of all scripts, each followed by its nine other digits. Written out, because a newer Unicode must not change the schema. */
const ZEROS = (
  '660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90 1b50 1bb0 1c40 1c50 ' +
  'a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 10d40 11066 110f0 11136 111d0 112f0 11450 114d0 11650 116c0 116d0 116da ' +
  '11730 118e0 11950 11bf0 11c50 11d50 11da0 11de0 11f50 16130 16a60 16ac0 16b50 16d70 1ccf0 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 ' +
  '1e140 1e2f0 1e4f0 1e5f1 1e950 1fbf0'
)
  .split(' ')
  .map((zero) => Number.parseInt(zero, 16));

const TEN = Array.from({ length: 10 }, (_, digit) => digit);
const DIGITS = ZEROS.flatMap((zero) => TEN.map((digit) => String.fromCodePoint(zero + digit))).join('');

const ASCII = '0123456789'.repeat(ZEROS.length);

/** SQL for the digits of a phone number, whatever their script; null if there are none. */
export const digitsOf = (phone: string): string =>
  `nullif(regexp_replace(translate(${phone}, '${DIGITS}', '${ASCII}'), '[^0-9]', '', 'g'), '')`;

/** Whether a phone number has a digit: without one it is "N/A" or "none". */
export const hasDigit = (phone: string): boolean => /\p{Nd}/u.test(phone);

/** SQL for a text whatever its case. ICU knows those of all scripts, whatever the locale of the database. */
export const caseless = (text: string): string => `lower(${text} COLLATE "und-x-icu")`;

/** Letters that no decomposition takes apart, and what people type for them. */
const TYPED = {
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ƒ: 'f',
  ə: 'e',
  ɓ: 'b',
  ɗ: 'd',
  ƴ: 'y',
  ς: 'σ',
};
const TYPED_AS_TWO = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' };

/** Characters of a name that people leave out, or type in another way: apostrophes and quotes, and what is not seen. */
const LEFT_OUT = `[\\u0022\\u0027\\u0060\\u00ab\\u00ad\\u00b4\\u00bb\\u02b9-\\u02bf\\u02c8-\\u02cb\\u02ee\\u055a\\u05f3\\u05f4\\u200b-\\u200f\\u2018-\\u201f\\u2032-\\u2037\\u2039\\u203a\\u2060\\ua78b\\ua78c\\uff02\\uff07\\ufeff]`;
/** Dashes part words, as blanks do. */
const PARTING = `[-\\s\\u058a\\u05be\\u2010-\\u2015\\u2043\\u2212\\u2e3a\\u2e3b\\u30a0\\u30fb\\ufe58\\ufe63\\uff0d]+`;
/** Accents that are characters of their own once a text is decomposed: of Latin, Greek, Cyrillic, Hebrew and Arabic. */
const ACCENTS = `[\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u05bf-\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u06d6-\\u06ed\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]`;

const plain = Object.entries(TYPED);
const SHORT = `'${plain.map(([letter]) => letter).join('')}${DIGITS}', '${plain.map(([, typed]) => typed).join('')}${ASCII}'`;

/**
 * SQL for a text as it is searched: without case, accents and apostrophes, with blanks for dashes, and with plain letters and digits for
 * those that a keyboard may lack.
 */
export function folded(text: string): string {
  // Most names are plain ASCII, which takes a thirtieth of the time: a search folds the names of all.
  const ascii = `lower(regexp_replace(translate(${text}, '"''\u0060', ''), '[-\\s]+', ' ', 'g') COLLATE "C")`;
  const bare = `regexp_replace(regexp_replace(${text}, '${LEFT_OUT}', '', 'g'), '${PARTING}', ' ', 'g')`;
  const lower = caseless(`regexp_replace(normalize(${bare}, NFKD), '${ACCENTS}', '', 'g')`);
  const each = Object.entries(TYPED_AS_TWO).reduce(
    (sql, [letter, two]) => `replace(${sql}, '${letter}', '${two}')`,
    `translate(${lower}, ${SHORT})`,
  );
  return `CASE WHEN octet_length(${text}) = char_length(${text}) THEN ${ascii} COLLATE "default" ELSE ${each} COLLATE "default" END`;
}
