import { Area } from '../../http/kit.js';
import { AvailabilitiesModule } from './availabilities/availabilities.module.js';
import { LessonParticipantsModule } from './lesson-participants/lesson-participants.module.js';
import { SessionSeriesModule } from './session-series/session-series.module.js';
import { SessionsModule } from './sessions/sessions.module.js';

/** When lessons take place. */
@Area({
  imports: [AvailabilitiesModule, SessionsModule, LessonParticipantsModule, SessionSeriesModule],
  tags: {
    availabilities: ['Availability', 'When tutors teach: weekly hours, time off, and the slots that are left.'],
    sessions: ['Sessions', 'Lessons, with their tutors and students.'],
    'lesson-participants': [
      'Lesson participants',
      'Who takes part in a session, who came, and what each pays for an hour.',
    ],
    'session-series': ['Session series', 'Lessons that repeat at the same time of the week.'],
  },
})
export class SchedulingModule {}
