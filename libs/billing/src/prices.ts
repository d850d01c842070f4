import type { RowTable } from '@app/rows';

/** Bands of students, tiers of tutors, and what each combination costs. */
export const RATE_BANDS: RowTable = {
  table: 'rate_bands',
  unique: { rate_bands_organization_id_name_key: { at: ['name'], reason: 'Another rate band has this name.' } },
};

export const TUTOR_TIERS: RowTable = {
  table: 'tutor_tiers',
  unique: { tutor_tiers_organization_id_name_key: { at: ['name'], reason: 'Another tutor tier has this name.' } },
};
