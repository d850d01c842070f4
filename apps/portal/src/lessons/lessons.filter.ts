import { canonicalUuid, type Position } from '@app/database';
import { addDays, dayOf, dayOfWeek } from '@app/scheduling';
import { isDay } from './lesson-forms.js';
import { positionText, queryOf as query, readPosition } from '../web/paging.js';

/** Which lessons are listed. The first and the last are those of a day or a week; the others are of all days. */
export const STATES = ['all', 'unassigned', 'clashing', 'due', 'completed', 'cancelled'] as const;
export type LessonState = (typeof STATES)[number];

export const VIEWS = ['week', 'day'] as const;

export interface LessonFilter {
  state: LessonState;
  view: (typeof VIEWS)[number];
  /** The first day, YYYY-MM-DD, of the organization's time zone. A week begins on Monday. */
  from: string;
  tutor: string | null;
  after: Position | null;
}

/** Whether only lessons of the days that the page is of are listed. */
export const isOfDays = ({ state }: Pick<LessonFilter, 'state'>): boolean => state === 'all' || state === 'cancelled';

/** Invalid values are ignored. */
export function readFilter(asked: Record<string, unknown>, timeZone: string): LessonFilter {
  const view = VIEWS.find((one) => one === asked.view) ?? 'week';
  const day = typeof asked.from === 'string' && isDay(asked.from) ? asked.from : null;
  return {
    state: STATES.find((one) => one === asked.state) ?? 'all',
    view,
    from: firstDay(day ?? dayOf(new Date(), timeZone), view),
    tutor: typeof asked.tutor === 'string' ? canonicalUuid(asked.tutor) : null,
    after: readPosition(asked.after),
  };
}

/** A week begins on Monday. */
export const firstDay = (day: string, view: LessonFilter['view']): string =>
  view === 'day' ? day : addDays(day, -((dayOfWeek(day) + 6) % 7));

export const lengthOf = ({ view }: Pick<LessonFilter, 'view'>): number => (view === 'day' ? 1 : 7);

/** The query of the page with this filter, but for what is changed. */
export function queryOf(filter: LessonFilter, changed: Partial<LessonFilter> = {}): string {
  const { state, view, from, tutor, after } = { ...filter, after: null, ...changed };
  const days = isOfDays({ state }) ? { from, view: view === 'week' ? null : view } : { from: null, view: null };
  return query({ state: state === 'all' ? null : state, ...days, tutor, after: after && positionText(after) });
}
