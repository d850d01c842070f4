import { Area } from '../../http/kit.js';
import { LessonParticipantsModule } from './lesson-participants/lesson-participants.module.js';
import { SessionSeriesModule } from './session-series/session-series.module.js';
import { SessionsModule } from './sessions/sessions.module.js';

/** When lessons take place. */
@Area({
  imports: [SessionsModule, LessonParticipantsModule, SessionSeriesModule],
  tags: {
    sessions: ['Sessions', 'Lessons, with their tutors and students.'],
    'lesson-participants': ['Lesson participants', 'Who takes part in a session, who came, and what each pays for an hour.'],
    'session-series': ['Session series', 'Lessons that repeat at the same time of the week.'],
  },
})
export class SchedulingModule {}
