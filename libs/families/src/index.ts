export { type Known, newsOf } from './decide.js';
export { Evenings } from './evenings.js';
export { FamiliesModule } from './families.module.js';
export { FamilyPeople, type Recipient } from './family-people.js';
export { type LessonLetter, LessonNews, type News } from './lesson-news.js';
export { type LessonInMail, Lessons } from './lessons.js';
export { CHOICES, type Choice, type MailChoice, MailChoices } from './mail-choices.js';
export { Reminders } from './reminders.js';
export { FAMILY_SWITCH_KINDS, type FamilySwitch, FamilySwitches, type Switch } from './switches.js';
