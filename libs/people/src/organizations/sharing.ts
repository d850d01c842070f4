import { isBlank } from '@app/database';
import type { Setting } from './settings.js';

const LONGEST_POLICY = 1_000;

/** What an organization shows parents and students on their pages: of what it keeps about their learning nothing, unless it says so. */
export const SHARING = {
  sharesLearning: {
    column: 'shares_learning',
    label: 'Homework and results on the pages of families',
    required: true,
    read: (text) => (text === '' || text === 'yes' ? text === 'yes' : null),
    reason: 'Say whether families see homework and results.',
  },
  cancellationPolicy: {
    column: 'cancellation_policy',
    label: 'What you charge for late cancellations',
    read: (text) => (Array.from(text).length <= LONGEST_POLICY && !isBlank(text) ? text : null),
    reason: `Enter up to ${LONGEST_POLICY} characters.`,
  },
} satisfies Record<string, Setting>;
