import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { HttpModule } from '../../../http/kit.js';
import { InvitesController } from './invites.controller.js';
import { InvitesService } from './invites.service.js';

@Module({ imports: [AccountsModule, HttpModule], controllers: [InvitesController], providers: [InvitesService] })
export class InvitesModule {}
