import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { INVITE_CONTROLLERS } from './invites.controller.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: INVITE_CONTROLLERS })
export class InvitesModule {}
