import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PeopleController } from './people.controller.js';
import { PeopleService } from './people.service.js';
import { PersonController } from './person.controller.js';
import { PersonService } from './person.service.js';

/** The order of the controllers: `people/invites` is a page, not a person. */
@Module({
  imports: [AccountsModule],
  controllers: [PeopleController, PersonController],
  providers: [PeopleService, PersonService],
})
export class PeopleModule {}
