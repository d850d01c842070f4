import type { RowTable } from '@app/rows';

/** What is taught. */
export const SUBJECTS: RowTable = {
  table: 'subjects',
  most: 1_000,
  unique: {
    subjects_name: { at: ['name'], reason: 'Another subject has this name.' },
    subjects_organization_id_code_key: { at: ['code'], reason: 'Another subject has this code.' },
  },
};
