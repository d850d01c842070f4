import { canonicalUuid, isBlank, isStorable, normalizeEmail, parseDate } from '@app/database';

describe('parseDate', () => {
  it.each([
    ['2026-05-01', '2026-05-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z'],
  ])('reads %s as a whole day', (text, instant) => {
    expect(parseDate(text)).toEqual({ at: new Date(instant), wholeDay: true });
  });

  it.each([
    ['2026-05-01T00:00', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T23:59:59Z', '2026-05-01T23:59:59.000Z'],
    ['2026-05-01t12:30:15z', '2026-05-01T12:30:15.000Z'],
    ['2026-05-01T12:30:15.5Z', '2026-05-01T12:30:15.500Z'],
    ['2026-05-01T12:30:15.123456789', '2026-05-01T12:30:15.123Z'],
    ['2026-05-01T12:30+05:30', '2026-05-01T07:00:00.000Z'],
    ['2026-05-01T12:30+0530', '2026-05-01T07:00:00.000Z'],
    ['2026-05-01T12:30-08', '2026-05-01T20:30:00.000Z'],
    ['2026-05-01T12:30-15:59', '2026-05-02T04:29:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('reads %s as %s', (text, instant) => {
    expect(parseDate(text)).toEqual({ at: new Date(instant), wholeDay: false });
  });

  it.each(
    [
      ['', ' 2026-05-01', '2026-05-01 ', '2026-5-1', '2026-05-01 12:30', '2026-05-01T12', '2026-05-01T12:30:15.'],
      ['2026-05-01T12:30:15.1234567890', '2026-05-01T12:30Z+01:00', '2026-05-01T12:30+5', '2026-05-01T12:30+05:3'],
      ['2026-02-29', '2026-04-31', '2026-01-00', '2026-01-32', '2026-00-10', '2026-13-01'],
      ['2026-05-01T24:00', '2026-05-01T23:60', '2026-05-01T23:59:60', '2026-05-01T12:00+16:00', '2026-05-01T12:00+05:60'],
      ['0000-12-31', '0001-01-01T00:00+00:01', '9999-12-31T23:59-00:01'],
    ].flat(),
  )('refuses %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });
});

describe('isStorable', () => {
  it('admits every text that PostgreSQL stores and JSON writes briefly', () => {
    for (const text of ['', 'a\tb\r\nc', ' \x7f', 'ü', '😀']) expect([text, isStorable(text)]).toEqual([text, true]);
    for (const text of ['\0', '\x01', '\b', '\v', '\f', '\x0e', '\x1f', '\ud800', '\udc00a']) {
      expect([text, isStorable(`a${text}b`)]).toEqual([text, false]);
    }
  });
});

describe('isBlank', () => {
  it('tells texts without anything visible', () => {
    for (const text of ['', ' \t\n', '\u00a0', '\u2800', '\u200b\u00ad\ufe0f']) {
      expect([text, isBlank(text)]).toEqual([text, true]);
    }
    for (const text of ['a', '.', ' ü ', '\u200b😀', '2']) expect([text, isBlank(text)]).toEqual([text, false]);
  });
});

describe('canonicalUuid', () => {
  it('writes a UUID in lower case, and takes no other form', () => {
    const id = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
    expect([canonicalUuid(id), canonicalUuid(id.toUpperCase())]).toEqual([id, id]);
    for (const text of ['', `{${id}}`, ` ${id}`, `${id}0`, id.replaceAll('-', ''), id.replace('f', 'g')]) {
      expect([text, canonicalUuid(text)]).toEqual([text, null]);
    }
  });
});

describe('normalizeEmail', () => {
  it.each([
    [' Mia@Example.ORG ', 'mia@example.org'],
    ['jo\u0308rg@example.org', 'j\u00f6rg@example.org'],
    ['mia@XN--BCHER-KVA.example', 'mia@b\u00fccher.example'],
    ['xn--bcher-kva@example.org', 'xn--bcher-kva@example.org'],
    ['"a@b"@xn--bcher-kva.example', '"a@b"@b\u00fccher.example'],
    // Would be read as another domain.
    ['mia@xn---dpm.example', 'mia@xn---dpm.example'],
    ['mia@xn--bcher-kva.0x7f', 'mia@xn--bcher-kva.0x7f'],
    ['mia@ex%61mple.org', 'mia@ex%61mple.org'],
    // The longest domain, and a longer one.
    [`mia@${'a.'.repeat(120)}xn--bcher-kva`, `mia@${'a.'.repeat(120)}b\u00fccher`],
    [`mia@${'a.'.repeat(121)}xn--bcher-kva`, `mia@${'a.'.repeat(121)}xn--bcher-kva`],
  ])('reads %j as %j', (text, address) => {
    expect(normalizeEmail(text)).toBe(address);
  });
});
