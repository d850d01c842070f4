import { json, kinds, listOf } from '@app/fields';

const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
const OTHER = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31';
const MINUTE = '2026-05-01T09:30:00.000Z';

/** Values as a client writes them, and what the handler gets; a list where both are the same. */
type Good = string[] | Record<string, unknown>;

/** A kind of value with good and bad ones, as JSON. Wrong types of JSON are refused besides. */
export interface KindRow {
  kind: kinds.Kind;
  good: Good;
  /** Those that are wider than the documented form. */
  undocumented?: string[];
  /** By the type of their fault. A text that stands for itself also goes for query strings, unless the next says more. */
  bad: Record<string, string[]>;
  /** Of query strings, where they differ. */
  query?: { good: Record<string, unknown>; bad: Record<string, string[]> } | null;
}

const DAYS_THAT_ARE_NOT = ['', '2026-02-30', '2026-13-01', '0000-01-01', '10000-01-01', '20260501', '2026-W18-5', '2026-5-1', 'now', 'infinity'];
const INSTANTS_THAT_ARE_NOT = [
  ...DAYS_THAT_ARE_NOT,
  '2026-05-01T24:00Z',
  '2026-05-01T09:60Z',
  '2026-05-01T09:30:60Z',
  '2026-05-01 09:30',
  '1777627800',
];
const TIMES_THAT_ARE_NOT = [
  '',
  '9:30',
  '09:3',
  '0930',
  '09:60',
  '25:00',
  '-1:00',
  '09:30:00',
  '09:30Z',
  ' 09:30',
  '09:30\n',
  '24:01',
  '24:0',
  '09.30',
  '٠٩:٣٠',
];
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const numbers = (least: string, most: string, below: string, above: string): Pick<KindRow, 'good' | 'bad' | 'query'> => ({
  good: { [least]: Number(least), [most]: Number(most), [`${most}.0`]: Number(most), [`${most}e0`]: Number(most) },
  bad: {
    int_type: ['1.5', '1e-1', '"1"', '"1.0"', '""', '"one"'],
    greater_than_equal: [below, '-1e21', '-9007199254740993', '-1e400'],
    less_than_equal: [above, '1e21', '9007199254740993', '1e400'],
  },
  query: {
    good: { [least]: Number(least), [most]: Number(most), [`00${most}`]: Number(most) },
    bad: {
      int_parsing: ['', '1.0', '1.5', '1e3', '0x1', '+1', ' 1', '1 ', '1\n', '1\0', '١', '--1', '1_0', 'true', 'Infinity', 'NaN'],
      greater_than_equal: [below, '-9007199254740993', `-${'9'.repeat(400)}`],
      less_than_equal: [above, '9007199254740993', '9'.repeat(400)],
    },
  },
});

/** Every kind that `kinds` offers, and those of whole JSON values. */
export const KIND_ROWS: Record<string, KindRow> = {
  integer: { kind: kinds.integer(-5, 5), ...numbers('-5', '5', '-6', '6') },
  integer_from_zero: { kind: kinds.integer(0, Number.MAX_SAFE_INTEGER), ...numbers('0', '9007199254740991', '-1', '9007199254740992') },
  negative_zero: { kind: kinds.integer(0, 5), good: { '-0': 0, '-0.0': 0 }, bad: {}, query: { good: { '-0': 0 }, bad: {} } },
  cents: { kind: kinds.cents(-10_000_000, 10_000_000), ...numbers('-10000000', '10000000', '-10000001', '10000001') },
  decimal: {
    kind: kinds.decimal(0, 10_000, 3),
    good: { '0': 0, '-0': 0, '12.345': 12.345, '1e1': 10, '10000.000': 10_000 },
    bad: {
      float_type: ['"1.5"', '""'],
      greater_than_equal: ['-0.001', '-1e400'],
      less_than_equal: ['10000.001', '1e400'],
      value_error: ['12.3456', '1e-7'],
    },
    query: null,
  },
  dayOfWeek: { kind: kinds.dayOfWeek, ...numbers('0', '6', '-1', '7') },
  boolean: {
    kind: kinds.boolean,
    good: { true: true, false: false },
    bad: { bool_type: ['0', '1', '"true"', '"1"', '""'] },
    query: { good: { true: true, True: true, FALSE: false, 1: true, 0: false }, bad: { bool_parsing: ['', 'yes', '2', 'null', 'true '] } },
  },
  uuid: {
    kind: kinds.uuid,
    good: { [UUID]: UUID, [UUID.toUpperCase()]: UUID },
    bad: { uuid_parsing: ['', 'x', `{${UUID}}`, UUID.replaceAll('-', ''), `${UUID}0`, `${UUID}\n`] },
  },
  idOrCode: {
    kind: kinds.idOrCode,
    good: ['methods_34', UUID, UUID.toUpperCase()],
    bad: { string_too_short: ['', ' '], string_too_long: ['a'.repeat(101)], value_error: ['a\0', '\u001b'] },
  },
  oneOf: { kind: kinds.oneOf(['online', 'in_person']), good: ['online', 'in_person'], bad: { enum: ['', 'Online', 'online ', 'online,in_person'] } },
  oneAmong: { kind: { schema: { type: 'string' }, parse: (raw) => kinds.oneAmong(['primary'], raw) }, good: ['primary'], bad: { enum: ['', 'x'] } },
  text: {
    kind: kinds.text({ min: 1, max: 5, trim: true }),
    undocumented: [' abcde '],
    good: { a: 'a', ' abcde ': 'abcde', '💩💩💩💩💩': '💩💩💩💩💩' },
    bad: { string_too_short: ['', ' ', '\u200b'], string_too_long: ['abcdef', 'a'.repeat(5_000)], value_error: ['a\0', '\u001b'] },
  },
  search: {
    kind: kinds.search,
    good: { 'mia nguyen': 'mia nguyen', " O'B ": "O'B", 'ö2': 'ö2' },
    undocumented: [" O'B "],
    bad: { string_too_short: ['', ' ', 'a', ' a ', "a'", '--', '%%'], string_too_long: ['a'.repeat(101)], value_error: ['ab\0'] },
  },
  phone: {
    kind: kinds.phone(1),
    undocumented: [' +61 3 5550 1234 '],
    good: { '+61 3 5550 1234': '+61 3 5550 1234', ' +61 3 5550 1234 ': '+61 3 5550 1234', '０４００': '０４００', '٠٤٠٠': '٠٤٠٠' },
    bad: { string_pattern_mismatch: ['N/A', '-', '+', 'ask mum', '½'], string_too_short: ['', ' '], string_too_long: ['1'.repeat(51)] },
  },
  link: {
    kind: kinds.link(40),
    good: ['https://example.org/a?b=c', 'HTTP://example.org'],
    bad: { value_error: ['x', 'javascript:alert(1)', 'https://', 'https://a b', '//example.org'], string_too_long: [`https://example.org/${'a'.repeat(40)}`] },
  },
  httpsLink: {
    kind: kinds.httpsLink(40),
    good: ['https://example.org/a?b=c', 'HTTPS://example.org'],
    bad: { value_error: ['x', 'http://example.org', 'https://', 'https://a b'], string_too_long: [`https://example.org/${'a'.repeat(40)}`] },
  },
  instant: {
    kind: kinds.instant,
    undocumented: ['2026-05-01T09:30Z', '2026-05-01'],
    good: { '2026-05-01T19:30:00.000+10:00': MINUTE, '2026-05-01T09:30Z': MINUTE, '2026-05-01T09:30:59.1234Z': '2026-05-01T09:30:59.123Z', '2026-05-01': '2026-05-01T00:00:00.000Z' },
    bad: { datetime_parsing: INSTANTS_THAT_ARE_NOT },
  },
  wholeMinute: {
    kind: kinds.wholeMinute,
    undocumented: ['2026-05-01T09:30Z', '1960-05-01T09:30Z'],
    good: { '2026-05-01T09:30:00.000Z': MINUTE, '2026-05-01T09:30Z': MINUTE, '1960-05-01T09:30Z': '1960-05-01T09:30:00.000Z' },
    bad: { datetime_parsing: INSTANTS_THAT_ARE_NOT, value_error: ['2026-05-01T09:30:01Z', '2026-05-01T09:30:00.001Z', '1960-05-01T09:30:59.999Z'] },
  },
  day: {
    kind: kinds.day,
    undocumented: ['2026-05-01T23:00-10:00'],
    good: { '2024-02-29': '2024-02-29', '0001-01-01': '0001-01-01', '9999-12-31': '9999-12-31', '2026-05-01T23:00-10:00': '2026-05-01' },
    bad: { date_parsing: INSTANTS_THAT_ARE_NOT },
  },
  dateBound: {
    kind: kinds.dateBound,
    good: { '2026-05-01': { at: '2026-05-01T00:00:00.000Z', wholeDay: true }, '2026-05-01T09:30Z': { at: MINUTE, wholeDay: false } },
    bad: { date_parsing: INSTANTS_THAT_ARE_NOT },
  },
  time: { kind: kinds.time, good: ['00:00', '09:30', '23:59'], bad: { string_pattern_mismatch: [...TIMES_THAT_ARE_NOT, '24:00'] } },
  endTime: { kind: kinds.endTime, good: ['00:01', '23:59', '24:00'], bad: { string_pattern_mismatch: TIMES_THAT_ARE_NOT } },
  timeZone: {
    kind: kinds.timeZone,
    good: ['Australia/Melbourne', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+10'],
    bad: { value_error: ['', '+10:00', '-05', 'Melbourne', 'Australia/Melbourne ', 'AEST+10', 'Australia', '../UTC', 'UTC\0', 'a'.repeat(5_000)] },
  },
  email: {
    kind: kinds.email,
    undocumented: [' a@example.org '],
    good: { 'a@example.org': 'a@example.org', ' A@example.org ': 'A@example.org' },
    bad: { value_error: ['a@', 'a@b', '@example.org', 'a b@example.org', 'a@example.invalid', 'a\0@example.org'], string_too_long: [`${'a'.repeat(255)}@example.org`] },
  },
  color: { kind: kinds.color, good: ['#3366cc', '#ABCDEF'], bad: { string_pattern_mismatch: ['', '3366cc', '#36c', '#3366cg', '#3366cc ', '#3366cc00', 'red'] } },
  token: { kind: kinds.token(/^[a-z]+$/, 'Must be letters.', 'abc'), good: ['abc'], bad: { value_error: ['', 'A', 'a b'] } },
  ids: {
    kind: listOf(kinds.uuid, { min: 1, max: 2, distinct: true }),
    good: { [`["${UUID}"]`]: [UUID], [`["${OTHER}","${UUID}"]`]: [OTHER, UUID] },
    bad: {
      too_short: ['[]'],
      too_long: [`["${UUID}","${OTHER}","${UUID}"]`],
      '0 uuid_parsing': ['["x"]'],
      '1 value_error': [`["${UUID}","${UUID}"]`, `["${UUID}","${UUID.toUpperCase()}"]`],
      '1 string_type': [`["${UUID}",null]`, `["${UUID}",[]]`],
    },
    query: null,
  },
  free: {
    kind: json({ bytes: 300, depth: 3 }),
    good: Object.fromEntries(
      ['{}', '{"a":null,"":[1.5,-0.25,1e15,9007199254740991,"\\u0001",true]}', '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":1,"then":2}', nested(3), `{"a":"${'é'.repeat(146)}"}`].map(
        (text) => [text, JSON.parse(text) as unknown],
      ),
    ),
    bad: {
      too_long: [`{"a":"${'é'.repeat(147)}"}`],
      value_error: ['{"a":"\\u0000"}', '{"\\u0000":1}', '{"a":["\\ud800"]}', '{"\\udfff":1}', '{"a":1e400}', '{"a":1e21}', '{"a":9007199254740993}', '{"a":[-9007199254740992]}', '{"a":1e20}', '{"a":-1e300}', '{"a":5e-324}', nested(4), '{"a":[[[]]]}'],
    },
    query: null,
  },
}; // prettier-ignore
