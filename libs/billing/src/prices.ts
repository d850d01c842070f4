import type { RowTable } from '@app/rows';

/** Bands of students, tiers of tutors, and what each combination costs. */
export const RATE_BANDS: RowTable = {
  table: 'rate_bands',
  unique: { rate_bands_name: { at: ['name'], reason: 'Another rate band has this name.' } },
};

export const RATE_CELLS: RowTable = {
  table: 'rate_cells',
  references: { subject_id: { table: 'subjects' } },
  unique: {
    rate_cells_combination: {
      at: ['band_id'],
      reason: 'Another rate cell has this band, tier, subject and kind of session.',
    },
  },
  stamped: true,
  whole: true,
};

export const TUTOR_TIERS: RowTable = {
  table: 'tutor_tiers',
  unique: { tutor_tiers_name: { at: ['name'], reason: 'Another tutor tier has this name.' } },
};
