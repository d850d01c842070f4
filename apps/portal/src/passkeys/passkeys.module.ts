import { Controller, Module, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { ConfirmIdentity, ForSignedIn, Public, Session } from '../web/access.decorators.js';
import { type Form, SentForm } from '../web/form.js';
import type { SeeOther } from '../web/pages.js';
import type { SignedIn } from '../web/sessions.js';
import { Challenges } from './challenges.js';
import { PasskeyRegistration } from './passkey-registration.js';
import { type Onward, PasskeysService } from './passkeys.service.js';
import { PasskeyStore } from './passkeys.store.js';

/** The JSON requests of the passkey script, and the passkey forms of the account page. */
@Controller()
class PasskeysController {
  constructor(private readonly passkeys: PasskeysService) {}

  @Post('account/passkeys/options')
  @ForSignedIn()
  @ConfirmIdentity()
  registrationOptions(@Session() session: SignedIn, @Req() request: Request): Promise<object> {
    return this.passkeys.registrationOptions(session, request);
  }

  @Post('account/passkeys')
  @ForSignedIn()
  @ConfirmIdentity()
  register(@Session() session: SignedIn, @Req() request: Request): Promise<Onward> {
    return this.passkeys.register(session, request);
  }

  @Post('account/passkeys/:passkey_id/rename')
  @ForSignedIn()
  rename(@Param('passkey_id') id: string, @SentForm() form: Form, @Req() request: Request): Promise<SeeOther> {
    return this.passkeys.rename(id, form, request);
  }

  @Post('account/passkeys/:passkey_id/remove')
  @ForSignedIn()
  @ConfirmIdentity()
  remove(@Param('passkey_id') id: string, @Req() request: Request): Promise<SeeOther> {
    return this.passkeys.remove(id, request);
  }

  @Post('sign-in/passkey/options')
  @Public()
  signInOptions(@Req() request: Request): Promise<object> {
    return this.passkeys.signInOptions(request);
  }

  @Post('sign-in/passkey')
  @Public()
  signIn(@Req() request: Request): Promise<Onward> {
    return this.passkeys.signIn(request);
  }
}

@Module({
  controllers: [PasskeysController],
  providers: [Challenges, PasskeyRegistration, PasskeysService, PasskeyStore],
  exports: [PasskeyRegistration, PasskeysService],
})
export class PasskeysModule {}
