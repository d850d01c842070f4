import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { ClassroomsController } from './classrooms.controller.js';
import { ClassroomsService } from './classrooms.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [ClassroomsController], providers: [ClassroomsService] })
export class ClassroomsModule {}
