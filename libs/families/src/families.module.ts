import { Module } from '@nestjs/common';
import { PeopleModule } from '@app/people';
import { Evenings } from './evenings.js';
import { FamilyPeople } from './family-people.js';
import { LessonNews } from './lesson-news.js';
import { Lessons } from './lessons.js';
import { MailChoices } from './mail-choices.js';
import { Reminders } from './reminders.js';
import { Rounds } from './rounds.js';
import { FamilySwitches } from './switches.js';

const RULES = [Evenings, FamilyPeople, FamilySwitches, LessonNews, Lessons, MailChoices, Reminders, Rounds];

@Module({ imports: [PeopleModule], providers: RULES, exports: RULES })
export class FamiliesModule {}
