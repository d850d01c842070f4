import { INSTANT, objectOf, type Shape, UUID } from '../../../http/kit.js';
import { sessionView } from '../session.view.js';

const skipped: Shape = {
  name: 'SkippedSession',
  schema: objectOf({
    starts_at: INSTANT,
    ends_at: { ...INSTANT, examples: ['2026-05-01T10:30:00.000Z'] },
    session_id: { ...UUID, description: 'The session in the way.' },
  }),
};

const unmoved: Shape = {
  name: 'UnmovedSession',
  schema: objectOf({
    session_id: UUID,
    starts_at: { ...INSTANT, description: 'The time that it would have had.' },
    ends_at: { ...INSTANT, examples: ['2026-05-01T10:30:00.000Z'] },
    in_the_way: { ...UUID, description: 'The session in the way.' },
  }),
};

/** The sessions of a series that were changed, and those that were not. */
export const changedSeriesShape: Shape = {
  name: 'ChangedSeries',
  schema: objectOf({
    series_id: UUID,
    data: { type: 'array', items: { $ref: `#/components/schemas/${sessionView.name}` } },
    skipped: { type: 'array', items: unmoved.schema, description: 'Only with `skip_conflicts`.' },
    detached: { type: 'array', items: UUID, description: 'Sessions ahead that were changed by hand, and stay.' },
  }),
};

/** The sessions of a new series, and the times that were left out. */
export const seriesShape: Shape = {
  name: 'SessionSeries',
  schema: objectOf({
    series_id: UUID,
    data: { type: 'array', items: { $ref: `#/components/schemas/${sessionView.name}` } },
    skipped: { type: 'array', items: skipped.schema, description: 'Only with `skip_conflicts`.' },
  }),
};
