import type { Rows, TableRows } from './people-rows.js';
import { iso, type School } from './school.js';

const BANDS = ['Years 7 to 10', 'Years 11 and 12', 'University'];
const TIERS = ['Tutor', 'Senior tutor'];
const KINDS = ['1on1_online', '1on1_inperson', 'group', 'classroom'];

/** When the school was founded. */
const founded = (school: School): string => iso(school.subjects[0]!.createdAt);

export const bandOf = (school: School, student: number): string | null =>
  student % 5 === 4 ? null : school.id('rate-band', student % BANDS.length);

export const tierOf = (school: School, teacher: number): string | null =>
  teacher % 4 === 3 ? null : school.id('tutor-tier', teacher % TIERS.length);

function* rateBands(school: School): Rows {
  for (const [index, name] of BANDS.entries()) {
    yield { id: school.id('rate-band', index), name, sort_order: index, created_at: founded(school) };
  }
}

function* tutorTiers(school: School): Rows {
  for (const [index, name] of TIERS.entries()) {
    yield {
      id: school.id('tutor-tier', index),
      name,
      badge_label: index === 0 ? null : 'Senior',
      description: index === 0 ? null : 'Has taught for five years or more.',
      sort_order: index,
      created_at: founded(school),
    };
  }
}

/** A price for each kind of session, and another for each band and tier that costs more. */
function* rateCells(school: School): Rows {
  let index = 0;
  const cell = (
    session_kind: string,
    keys: { band_id?: string; tutor_tier_id?: string },
    student_rate_cents: number,
  ) => ({
    id: school.id('rate-cell', index++),
    band_id: null,
    tutor_tier_id: null,
    subject_id: null,
    ...keys,
    session_kind,
    student_rate_cents,
    inperson_surcharge_cents: session_kind === '1on1_inperson' ? 1_000 : null,
    tutor_pay_mode: session_kind === 'classroom' ? 'flat' : 'percentage',
    tutor_pay_pct: session_kind === 'classroom' ? null : 60,
    tutor_flat_rate_cents: session_kind === 'classroom' ? 9_000 : null,
    created_at: founded(school),
  });
  for (const [step, kind] of KINDS.entries()) {
    const base = [8_000, 8_500, 4_500, 3_000][step]!;
    yield cell(kind, {}, base);
    yield cell(kind, { band_id: school.id('rate-band', 1) }, base + 1_000);
    yield cell(kind, { tutor_tier_id: school.id('tutor-tier', 1) }, base + 1_500);
  }
}

export const rateRows: TableRows = { rate_bands: rateBands, tutor_tiers: tutorTiers, rate_cells: rateCells };
