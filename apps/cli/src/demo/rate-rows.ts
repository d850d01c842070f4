import type { RateCell, SessionKind } from '@app/scheduling';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';

const BANDS = ['Years 7 to 10', 'Years 11 and 12', 'University'];
const TIERS = ['Tutor', 'Senior tutor'];
const KINDS: SessionKind[] = ['1on1_online', '1on1_inperson', 'group', 'classroom'];

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

type Cell = RateCell & { id: string };

const tables = new WeakMap<School, Cell[]>();

/** The table of rates, made once: every lesson looks for its price in it. */
export function rateTable(school: School): Cell[] {
  const table = tables.get(school) ?? cellsOf(school);
  tables.set(school, table);
  return table;
}

/** A cell for each kind of session, band and tier, and those without. */
function cellsOf(school: School): Cell[] {
  const bands = [null, ...BANDS.keys()];
  const tiers = [null, ...TIERS.keys()];
  return KINDS.flatMap((kind, step) =>
    bands.flatMap((band, row) =>
      tiers.map((tier, column) => {
        const flat = kind === 'classroom';
        const senior = tier === TIERS.length - 1;
        return {
          id: school.id('rate-cell', (step * bands.length + row) * tiers.length + column),
          bandId: band === null ? null : school.id('rate-band', band),
          tierId: tier === null ? null : school.id('tutor-tier', tier),
          subjectId: null,
          kind,
          rateCents: [8_000, 8_500, 4_500, 3_000][step]! + (band ?? 0) * 1_000 + (senior ? 1_500 : 0),
          surchargeCents: kind === '1on1_inperson' ? 1_000 : null,
          payMode: flat ? 'flat' : 'percentage',
          payPct: flat ? null : senior ? 65 : 60,
          flatRateCents: flat ? (senior ? 10_500 : 9_000) : null,
        };
      }),
    ),
  );
}

function* rateCells(school: School): Rows {
  for (const cell of rateTable(school)) {
    yield {
      id: cell.id,
      band_id: cell.bandId,
      tutor_tier_id: cell.tierId,
      subject_id: cell.subjectId,
      session_kind: cell.kind,
      student_rate_cents: cell.rateCents,
      inperson_surcharge_cents: cell.surchargeCents,
      tutor_pay_mode: cell.payMode,
      tutor_pay_pct: cell.payPct,
      tutor_flat_rate_cents: cell.flatRateCents,
      created_at: founded(school),
    };
  }
}

export const rateRows: TableRows = { rate_bands: rateBands, tutor_tiers: tutorTiers, rate_cells: rateCells };
