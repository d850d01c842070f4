export { Evenings } from './evenings.js';
export { FamiliesModule } from './families.module.js';
export { FamilyPeople } from './family-people.js';
export { LessonNews } from './lesson-news.js';
export { type LessonInMail, Lessons } from './lessons.js';
export { CHOICES, type Choice, type MailChoice, MailChoices } from './mail-choices.js';
export { Reminders } from './reminders.js';
export { type FamilySwitch, FamilySwitches } from './switches.js';
