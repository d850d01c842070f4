import { TutorFields } from '../people.dto.js';

export class CreateTutor extends TutorFields {}
