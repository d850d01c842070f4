import { Area } from '../../http/kit.js';
import { SessionsModule } from './sessions.module.js';

/** When lessons take place. */
@Area({
  imports: [SessionsModule],
  tags: {
    sessions: ['Sessions', 'Lessons, with their tutors and students.'],
  },
})
export class SchedulingModule {}
