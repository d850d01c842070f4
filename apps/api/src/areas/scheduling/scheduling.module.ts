import { BillingModule } from '@app/billing';
import { SchedulingModule as Scheduling } from '@app/scheduling';
import { Area, HttpModule } from '../../http/kit.js';
import { AVAILABLE_SLOTS } from './available-slots.controller.js';
import { AVAILABILITIES_CONTROLLERS } from './availabilities/availabilities.controller.js';
import { LESSON_PARTICIPANTS_CONTROLLERS } from './lesson-participants/lesson-participants.controller.js';
import { SESSION_SERIES_CONTROLLERS } from './session-series/session-series.controller.js';
import { SESSIONS_CONTROLLERS } from './sessions/sessions.controller.js';

/** When lessons take place. */
@Area({
  imports: [HttpModule, BillingModule, Scheduling],
  controllers: [
    ...AVAILABILITIES_CONTROLLERS,
    AVAILABLE_SLOTS,
    ...SESSIONS_CONTROLLERS,
    ...LESSON_PARTICIPANTS_CONTROLLERS,
    ...SESSION_SERIES_CONTROLLERS,
  ],
  tags: {
    availabilities: ['Availability', 'When tutors teach: weekly hours, time off, and the slots that are left.'],
    'available-slots': ['Available slots', 'When lessons in a subject can be booked.'],
    sessions: ['Sessions', 'Lessons, with their tutors and students.'],
    'lesson-participants': [
      'Lesson participants',
      'Who takes part in a session, who came, and what each pays for an hour.',
    ],
    'session-series': ['Session series', 'Lessons that repeat at the same time of the week.'],
  },
})
export class SchedulingModule {}
