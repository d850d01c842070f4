import { Area } from '../../http/kit.js';
import { AvailabilitiesModule } from './availabilities/availabilities.module.js';
import { SessionsModule } from './sessions.module.js';

/** When lessons take place. */
@Area({
  imports: [AvailabilitiesModule, SessionsModule],
  tags: {
    availabilities: ['Availability', 'When tutors teach: weekly hours, time off, and the slots that are left.'],
    sessions: ['Sessions', 'Lessons, with their tutors and students.'],
  },
})
export class SchedulingModule {}
