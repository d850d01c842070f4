import { BOOLEAN, objectOf, orNull, type Shape, textLike, UUID } from '../../../http/kit.js';

const COUNT = { type: 'integer', minimum: 0 };
const POSTCODE = textLike('3056');

export const summaryShape: Shape = {
  name: 'CoverageSummaryResult',
  schema: objectOf({
    subject_id: orNull(UUID),
    postcode: orNull(POSTCODE),
    total: { ...COUNT, examples: [12] },
    in_person: { ...COUNT, examples: [7] },
    online: { ...COUNT, examples: [9] },
    covering_area: { ...COUNT, examples: [3] },
  }),
};

export const gapShape: Shape = {
  name: 'CoverageGapItem',
  schema: objectOf({
    postcode: POSTCODE,
    suburb: orNull(textLike('Brunswick')),
    subject_id: orNull(UUID),
    demand_score: {
      type: 'number',
      examples: [2.25],
      description: 'Pending requests count 1, expired and declined ones 0.5, matched ones 0.25.',
    },
    request_count: { ...COUNT, examples: [3] },
    supply_count: { ...COUNT, examples: [0], description: 'Tutors of the subject who cover the postcode.' },
  }),
};

export const refreshShape: Shape = {
  name: 'IsochroneRefreshResult',
  schema: objectOf({
    enabled: { ...BOOLEAN, description: 'Whether this installation has a routing service.' },
    considered: { ...COUNT, examples: [7], description: 'The sum of the other three.' },
    computed: { ...COUNT, examples: [2] },
    cached: { ...COUNT, examples: [5] },
    failed: { ...COUNT, examples: [0] },
  }),
};
