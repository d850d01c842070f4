import type { RowTable } from '@app/rows';

/** Where the organization teaches, and where its tutors and students live or are taught. One of each owner’s is the default. */
export const LOCATIONS: RowTable = {
  table: 'locations',
  references: { tutor_id: { member: 'teach' }, student_id: { member: 'learn' } },
  single: { flag: 'is_default', among: ['owner_type', 'tutor_id', 'student_id'] },
};
