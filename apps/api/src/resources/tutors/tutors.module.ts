import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../http/http.module.js';
import { TutorsController } from './tutors.controller.js';
import { TutorsService } from './tutors.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [TutorsController], providers: [TutorsService] })
export class TutorsModule {}
