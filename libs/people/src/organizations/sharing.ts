import type { Setting } from './settings.js';

/** What an organization shows parents and students of what it keeps about their learning: nothing, unless it says so. */
export const SHARING = {
  sharesLearning: {
    column: 'shares_learning',
    label: 'Homework and results on the pages of families',
    required: true,
    read: (text) => (text === '' || text === 'yes' ? text === 'yes' : null),
    reason: 'Say whether families see homework and results.',
  },
} satisfies Record<string, Setting>;
