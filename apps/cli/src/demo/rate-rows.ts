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

/** A price for each kind of session, band and tier, and those without. */
function* rateCells(school: School): Rows {
  const bands = [null, ...BANDS.keys()];
  const tiers = [null, ...TIERS.keys()];
  for (const [step, session_kind] of KINDS.entries()) {
    for (const [row, band] of bands.entries()) {
      for (const [column, tier] of tiers.entries()) {
        const flat = session_kind === 'classroom';
        const senior = tier === TIERS.length - 1;
        yield {
          id: school.id('rate-cell', (step * bands.length + row) * tiers.length + column),
          band_id: band === null ? null : school.id('rate-band', band),
          tutor_tier_id: tier === null ? null : school.id('tutor-tier', tier),
          subject_id: null,
          session_kind,
          student_rate_cents: [8_000, 8_500, 4_500, 3_000][step]! + (band ?? 0) * 1_000 + (senior ? 1_500 : 0),
          inperson_surcharge_cents: session_kind === '1on1_inperson' ? 1_000 : null,
          tutor_pay_mode: flat ? 'flat' : 'percentage',
          tutor_pay_pct: flat ? null : senior ? 65 : 60,
          tutor_flat_rate_cents: flat ? (senior ? 10_500 : 9_000) : null,
          created_at: founded(school),
        };
      }
    }
  }
}

export const rateRows: TableRows = { rate_bands: rateBands, tutor_tiers: tutorTiers, rate_cells: rateCells };
