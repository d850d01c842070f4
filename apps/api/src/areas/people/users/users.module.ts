import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { USER_CONTROLLERS } from './users.controller.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: USER_CONTROLLERS })
export class UsersModule {}
