import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PeopleController } from './people.controller.js';
import { PeopleService } from './people.service.js';

@Module({ imports: [AccountsModule], controllers: [PeopleController], providers: [PeopleService] })
export class PeopleModule {}
